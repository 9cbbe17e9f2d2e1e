#pragma once
// Headers: the header fields of a message being built, in order, repeats allowed.
//
// Kept as the text that goes on the wire, "Name: value\r\n" after each other, so that sending them
// is one copy and an empty list owns no memory. Lookups walk the text: messages have few fields.
//
// What add() and set() accept cannot break out of its line: a name that is no token, or a value
// with CR, LF, NUL or another control character, is refused (response splitting).
//
// Thread safety: none. Views are good until the next non-const call.

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"

namespace sennit::http {

struct Header {
  std::string_view name;
  std::string_view value;
};

class Headers {
 public:
  /// Adds a field at the end; one of the same name stays. Whitespace around the value is dropped.
  ///
  /// Errors: invalid_argument, see above; the list is unchanged.
  Result<> add(std::string_view name, std::string_view value);
  /// Removes every field of that name, then adds. Errors as add().
  Result<> set(std::string_view name, std::string_view value);
  /// Removes every field of that name and returns how many there were.
  std::size_t remove(std::string_view name);
  /// Removes all and keeps the memory.
  void clear() { text_.clear(); }

  /// The value of the first field of that name; names are compared without case.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return get(name).has_value(); }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::size_t count() const;

  /// All fields as they go on the wire, without the empty line that ends them.
  [[nodiscard]] std::string_view text() const { return text_; }

  class Iterator {
   public:
    using value_type = Header;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    Header operator*() const;
    Iterator& operator++();
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    std::string_view rest_;  // From the current field to the end.
  };
  [[nodiscard]] Iterator begin() const { return Iterator(text_); }
  [[nodiscard]] Iterator end() const { return {}; }

 private:
  std::string text_;
};

/// The rules of add(), for those who write header fields themselves.
[[nodiscard]] bool is_header_name(std::string_view name);
[[nodiscard]] bool is_header_value(std::string_view value);

}  // namespace sennit::http
