#include "sennit/shm/place.hpp"

#include <charconv>
#include <fmt/core.h>

namespace sennit::shm {
namespace {

constexpr Backing all[] = {Backing::heap,  Backing::anonymous, Backing::posix,    Backing::file,
                           Backing::memfd, Backing::sysv,      Backing::sysv_huge};

bool parse_key(std::string_view text, std::int32_t& key) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  key = static_cast<std::int32_t>(value);
  return error == std::errc() && end == text.data() + text.size() && value != 0;
}

}  // namespace

std::string_view to_string(Backing backing) {
  switch (backing) {
    case Backing::heap:
      return "heap";
    case Backing::anonymous:
      return "anonymous";
    case Backing::posix:
      return "posix";
    case Backing::file:
      return "file";
    case Backing::memfd:
      return "memfd";
    case Backing::sysv:
      return "sysv";
    case Backing::sysv_huge:
      return "sysv_huge";
  }
  return "unknown";
}

Result<Place> Place::parse(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return failure(Errc::invalid_argument, fmt::format("understand the place '{}': {}", text, why));
  };
  const std::string_view word = text.substr(0, text.find(':'));
  const bool has_name = word.size() < text.size();
  const std::string_view name = has_name ? text.substr(word.size() + 1) : std::string_view();
  for (const Backing backing : all) {
    if (word != shm::to_string(backing)) continue;
    Place place{backing};
    const bool wants_key = backing == Backing::sysv || backing == Backing::sysv_huge;
    const bool wants_name = backing == Backing::posix || backing == Backing::file;
    if (name.find('\0') != name.npos) return refuse("a name with a NUL in it");
    if (wants_key) {
      if (!parse_key(name, place.key)) return refuse("its key is no number other than zero");
    } else if (wants_name && name.empty()) {
      return refuse("it needs a name, as in posix:/orders");
    } else {
      place.name = backing == Backing::posix ? posix(name).name : std::string(name);
    }
    return place;
  }
  return refuse("its kind is none of posix, file, sysv, sysv_huge, memfd, anonymous, heap");
}

std::string Place::to_string() const {
  const std::string_view word = shm::to_string(backing);
  if (backing == Backing::sysv || backing == Backing::sysv_huge) {
    return fmt::format("{}:{:#x}", word, static_cast<std::uint32_t>(key));
  }
  return name.empty() ? std::string(word) : fmt::format("{}:{}", word, name);
}

}  // namespace sennit::shm
