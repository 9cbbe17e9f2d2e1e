#include "sennit/http/request.hpp"

#include <algorithm>

#include "sennit/base/assert.hpp"
#include "sennit/http/detail/chars.hpp"
#include "sennit/http/percent.hpp"

namespace sennit::http {
namespace {

constexpr std::size_t head_bytes_kept = 8 * 1024;

void clear_down_to(Buffer& buffer, std::size_t bytes_kept) {
  if (buffer.capacity() > bytes_kept) {
    buffer.release();
  } else {
    buffer.clear();
  }
}

}  // namespace

std::optional<std::string> Request::query(std::string_view name) const {
  std::string_view rest = query_string();
  while (!rest.empty()) {
    const std::size_t pair_bytes = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, pair_bytes);
    rest.remove_prefix(std::min(pair_bytes + 1, rest.size()));
    const std::size_t name_bytes = std::min(pair.find('='), pair.size());
    const std::string_view raw_name = pair.substr(0, name_bytes);
    const bool is_plain = raw_name.find_first_of("%+") == std::string_view::npos;
    if (is_plain ? raw_name != name : form_decoded(raw_name) != name) continue;
    return form_decoded(pair.substr(std::min(name_bytes + 1, pair.size())));
  }
  return std::nullopt;
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  for (const h1::Field& field : fields_) {
    if (field.name.length == name.size() && detail::equals_ignoring_case(at(field.name), name)) {
      return at(field.value);
    }
  }
  return std::nullopt;
}

Header Request::header_at(std::size_t index) const {
  SENNIT_ASSERT(index < fields_.size(), index, fields_.size());
  return {at(fields_[index].name), at(fields_[index].value)};
}

std::string_view Request::param(std::string_view name) const {
  for (const Param& param : params_) {
    if (param.name != name) continue;
    return param.is_decoded ? param.value.in(decoded_params_.data()) : at(param.value);
  }
  return {};
}

void Request::assign(std::string_view head_bytes, const h1::RequestHead& head) {
  head_bytes_.clear();
  head_bytes_.append(head_bytes);
  fields_.assign(head.fields, head.fields + head.field_count);
  method_name_ = head.method_name;
  target_ = head.target;
  path_ = head.path;
  query_ = head.query;
  host_ = head.host;
  method_ = head.method;
  minor_version_ = head.minor_version;
  keep_alive_ = head.keep_alive;
  body_.clear();
  decoded_params_.clear();
  params_.clear();
}

void Request::set_params(const RouteParams& params) {
  params_.clear();
  decoded_params_.clear();
  const char* const base = head_bytes_.view().data();
  for (std::size_t i = 0; i < params.count; ++i) {
    const auto [name, raw] = params.params[i];
    const bool has_escapes = raw.find('%') != std::string_view::npos;
    const bool is_ours = raw.data() >= base && raw.data() + raw.size() <= base + head_bytes_.size();
    const auto length = static_cast<std::uint32_t>(raw.size());
    if (is_ours && !has_escapes) {
      params_.push_back({name, {static_cast<std::uint32_t>(raw.data() - base), length}, false});
      continue;
    }
    const auto begin = static_cast<std::uint32_t>(decoded_params_.size());
    append_percent_decoded(decoded_params_, raw);
    const auto decoded_bytes = static_cast<std::uint32_t>(decoded_params_.size()) - begin;
    params_.push_back({name, {begin, decoded_bytes}, true});
  }
}

void Request::reset(std::size_t body_bytes_kept) {
  clear_down_to(head_bytes_, head_bytes_kept);
  clear_down_to(body_, body_bytes_kept);
  fields_.clear();
  params_.clear();
  decoded_params_.clear();
  method_name_ = target_ = path_ = query_ = host_ = {0, 0};
  method_ = Method::get;
  minor_version_ = 1;
  keep_alive_ = true;
  body_reader_ = nullptr;
  match_ = nullptr;
}

}  // namespace sennit::http
