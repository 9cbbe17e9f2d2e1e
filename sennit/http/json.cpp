#include "sennit/http/json.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sennit/base/log.hpp"

namespace sennit::http {
namespace {

using Value = nlohmann::json;

// Builds a value as it is parsed, and stops at what must not be.
class Builder final : public nlohmann::json_sax<Value> {
 public:
  Value root;
  std::string complaint;
  bool is_too_deep = false;

  bool null() override { return put(Value()); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    // An integer that 64 bits do not hold comes as a float, which would be another number.
    if (text.find_first_of(".eE") == string_t::npos) return complain("an integer is out of range");
    return std::isfinite(value) ? put(value) : complain("a number is out of range");
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return complain("binary"); }
  bool start_object(std::size_t) override { return open(Value::object()); }
  bool start_array(std::size_t) override { return open(Value::array()); }
  bool key(string_t& name) override {
    if (open_.back()->contains(name)) return complain("a name stands twice: " + name);
    member_ = &(*open_.back())[name];
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return complain("syntax error at byte " + std::to_string(position));
  }

 private:
  bool complain(std::string what) {
    complaint = std::move(what);
    return false;
  }
  Value& place(Value value) {
    if (open_.empty()) return root = std::move(value);
    if (!open_.back()->is_array()) return *member_ = std::move(value);
    open_.back()->push_back(std::move(value));
    return open_.back()->back();
  }
  bool put(Value value) {
    place(std::move(value));
    return true;
  }
  bool open(Value value) {
    if (open_.size() == json_depth_max) {
      is_too_deep = true;
      return complain("more than " + std::to_string(json_depth_max) + " levels");
    }
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Value*> open_;  // Each within the one before; only the last one grows.
  Value* member_ = nullptr;
};

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text) {
  Builder builder;
  if (Value::sax_parse(text, &builder)) return std::move(builder.root);
  return failure(builder.is_too_deep ? Errc::limit_reached : Errc::malformed,
                 "read JSON: " + builder.complaint);
}

namespace detail {

// As deep as parse_json() lets it be.
bool keeps_numbers(const Value& given, const Value& kept) {
  if (given.is_number() && kept.is_number()) {
    if (!given.is_number_float() && !kept.is_number_float()) return given == kept;
    return static_cast<float>(given.get<double>()) == static_cast<float>(kept.get<double>());
  }
  if (given.is_array() && kept.is_array()) {
    const std::size_t count = std::min(given.size(), kept.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (!keeps_numbers(given[i], kept[i])) return false;
    }
  }
  if (given.is_object() && kept.is_object()) {
    for (const auto& [name, value] : given.items()) {
      const auto found = kept.find(name);
      if (found != kept.end() && !keeps_numbers(value, *found)) return false;
    }
  }
  return true;
}

Response bad_json(const Error& error) { return problem(Status::bad_request, error.doing()); }

Response unfit_json(std::string_view why) { return problem(Status::unprocessable_content, why); }

Response json_response(const Value& value) {
  try {
    return json(value.dump());
  } catch (const Value::exception& exception) {
    log::error("a response cannot be written as JSON: {}", exception.what());
    return problem(Status::internal_server_error);
  }
}

}  // namespace detail
}  // namespace sennit::http
