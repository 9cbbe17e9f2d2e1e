#include "sennit/metrics/family.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::metrics {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD.

// The bytes of the UTF-8 character that `text` begins with, or 0 if it begins with none. Overlong
// forms, surrogates and what is beyond U+10FFFF are none (RFC 3629).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  const unsigned char second_min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char second_max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < second_min || byte(1) > second_max) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return size;
}

}  // namespace

std::string clean_label_value(std::string_view value) {
  std::string clean;
  while (!value.empty()) {
    const std::size_t bytes = character_bytes(value);
    const std::string_view character = bytes == 0 ? replacement : value.substr(0, bytes);
    if (clean.size() + character.size() > label_bytes_max) break;
    clean += character;
    value.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return clean;
}

LabelIndex::LabelIndex(std::vector<std::string> names, std::size_t series_max)
    : names_(std::move(names)), series_max_(series_max) {}

std::size_t LabelIndex::index_of(std::span<const std::string_view> values) {
  SENNIT_ASSERT(values.size() == names_.size(), values.size(), names_.size());
  LabelValues clean;
  clean.reserve(values.size());
  for (const std::string_view value : values) clean.push_back(clean_label_value(value));
  if (const auto found = index_by_values_.find(clean); found != index_by_values_.end()) {
    return found->second;
  }
  if (index_by_values_.size() >= series_max_) {
    ++overflow_count_;
    return 0;
  }
  const std::size_t index = index_by_values_.size() + 1;
  index_by_values_.emplace(std::move(clean), index);
  return index;
}

std::vector<std::pair<LabelValues, std::size_t>> LabelIndex::series() const {
  std::vector<std::pair<LabelValues, std::size_t>> all(index_by_values_.begin(),
                                                       index_by_values_.end());
  if (overflow_count_ > 0) {
    all.emplace_back(LabelValues(names_.size(), std::string(overflow_label)), 0);
  }
  return all;
}

}  // namespace sennit::metrics
