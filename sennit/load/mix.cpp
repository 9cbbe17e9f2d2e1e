#include "sennit/load/mix.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace sennit::load {
namespace {

using nlohmann::json;

constexpr std::size_t entries_max = 10'000;

bool parse_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

void append_number(Buffer& out, std::uint64_t number, bool is_negative) {
  char digits[24];
  char* begin = digits;
  if (is_negative) *begin++ = '-';
  const auto end = std::to_chars(begin, std::end(digits), number).ptr;
  out.append({digits, static_cast<std::size_t>(end - digits)});
}

Result<std::string> text_of(const json& value, const char* key) {
  if (value.is_string()) return value.get<std::string>();
  return failure(Errc::invalid_argument, std::string("read '") + key + "' (it is no text)");
}

Result<void> read_headers(const json& value, MixEntry& entry) {
  if (!value.is_object()) {
    return failure(Errc::invalid_argument, "read 'headers' (it is no object)");
  }
  for (const auto& [name, content] : value.items()) {
    SENNIT_TRY(std::string text, text_of(content, name.c_str()));
    entry.headers.emplace_back(name, std::move(text));
  }
  return {};
}

Result<void> read_field(const std::string& key, const json& value, MixEntry& entry) {
  if (key == "weight") {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 1'000'000) {
      return failure(Errc::invalid_argument, "read 'weight' (a whole number up to 1000000)");
    }
    entry.weight = value.get<std::uint32_t>();
    return {};
  }
  if (key == "headers") return read_headers(value, entry);
  std::string* const place = key == "method" ? &entry.method
                             : key == "path" ? &entry.path
                             : key == "body" ? &entry.body
                                             : nullptr;
  if (place == nullptr) {
    return failure(Errc::invalid_argument,
                   "understand '" + key + "' (weight, method, path, headers and body are known)");
  }
  SENNIT_TRY(*place, text_of(value, key.c_str()));
  return {};
}

Result<MixEntry> read_entry(const json& object) {
  if (!object.is_object()) return failure(Errc::invalid_argument, "read it (it is no object)");
  MixEntry entry;
  for (const auto& [key, value] : object.items()) {
    if (auto read = read_field(key, value, entry); !read) return failure(std::move(read).error());
  }
  if (!object.contains("method") && !entry.body.empty()) entry.method = "POST";
  for (const std::string* const text : {&entry.path, &entry.body}) {
    if (auto parsed = Template::parse(*text); !parsed) return failure(std::move(parsed).error());
  }
  for (const auto& [name, value] : entry.headers) {
    if (auto parsed = Template::parse(value); !parsed) return failure(std::move(parsed).error());
  }
  return entry;
}

}  // namespace

Template Template::literal(std::string text) {
  Template made;
  made.texts_.front() = std::move(text);
  return made;
}

Result<Template::Variable> Template::parse_variable(std::string_view name) {
  if (name == "seq") return Variable{true, 0, 0};
  Variable variable{false, 0, 0};
  const std::size_t dots = name.find("..");
  if (dots != std::string_view::npos && parse_number(name.substr(0, dots), variable.low) &&
      parse_number(name.substr(dots + 2), variable.high) && variable.low <= variable.high) {
    return variable;
  }
  return failure(Errc::invalid_argument, "understand '{" + std::string(name.substr(0, 40)) +
                                             "}' (write {seq}, {1..100}, or {{ and }} for braces)");
}

Result<Template> Template::parse(std::string_view text) {
  Template made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    const bool is_doubled = i + 1 < text.size() && text[i + 1] == character;
    if (character != '{' && character != '}') {
      made.texts_.back() += character;
    } else if (is_doubled) {
      made.texts_.back() += character;
      ++i;
    } else {
      const std::size_t end = character == '{' ? text.find('}', i) : std::string_view::npos;
      if (end == std::string_view::npos) {
        return failure(Errc::invalid_argument,
                       "find the brace that belongs to the one at character " +
                           std::to_string(i + 1) + " (double it if it is meant as it is)");
      }
      SENNIT_TRY(const Variable variable, parse_variable(text.substr(i + 1, end - i - 1)));
      made.variables_.push_back(variable);
      made.texts_.emplace_back();
      i = end;
    }
  }
  return made;
}

void Template::append_to(Buffer& out, std::uint64_t sequence, Random& random) const {
  out.append(texts_.front());
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Variable& variable = variables_[i];
    if (variable.is_sequence) {
      append_number(out, sequence, false);
    } else {
      const std::int64_t value = random.between(variable.low, variable.high);
      const auto bits = static_cast<std::uint64_t>(value);
      append_number(out, value < 0 ? 0 - bits : bits, value < 0);
    }
    out.append(texts_[i + 1]);
  }
}

Result<Mix> parse_mix(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_array()) {
    return failure(Errc::malformed, "read a mix of requests (a JSON array of objects)");
  }
  if (document.empty() || document.size() > entries_max) {
    return failure(Errc::invalid_argument, "use a mix of " + std::to_string(document.size()) +
                                               " requests (1 to 10000 may be in it)");
  }
  Mix mix;
  for (const json& object : document) {
    auto entry = read_entry(object);
    if (!entry) {
      return failure(entry.error().code(), entry.error().doing() + " in entry " +
                                               std::to_string(mix.size() + 1) + " of the mix");
    }
    mix.push_back(std::move(*entry));
  }
  return mix;
}

}  // namespace sennit::load
