#pragma once
// Result<T>: a value, or an Error that says what went wrong in the world outside.
//
// An Error names a code that a caller can act on, what was being done, and the operating system's
// error where there was one: "listen on 127.0.0.1:80: permission denied (EACCES)". What only a
// defect of our own can cause is not an Error but a SENNIT_ASSERT.

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace sennit {

/// What a caller may want to tell apart. Everything else the kernel can say is `system`.
enum class Errc : unsigned char {
  cancelled,           // The caller, or whoever it works for, no longer wants the result.
  timed_out,           // The deadline passed first.
  closed,              // The stream ended in order; nothing more will come.
  connection_reset,    // The peer is gone; what it had not read is lost.
  connection_refused,  // Nobody listens there.
  unreachable,         // No route to the address.
  limit_reached,       // A configured limit or a limit of the process.
  out_of_memory,
  invalid_argument,
  malformed,  // Bytes from outside that do not follow their format.
  not_found,
  already_exists,  // Also an address in use.
  permission_denied,
  unsupported,  // This kernel, or this build, cannot do it.
  system,       // See os_error().
};

/// The code in words, such as "timed out". Static storage.
[[nodiscard]] std::string_view to_string(Errc code);

/// The code that stands for an errno value.
[[nodiscard]] Errc errc_from_os(int os_error);

class Error {
 public:
  /// `doing` completes the sentence "could not ...": "listen on 127.0.0.1:80".
  explicit Error(Errc code, std::string doing = {}) : code_(code), doing_(std::move(doing)) {}

  /// An error of the operating system; `os_error` is an errno value.
  static Error from_os(int os_error, std::string doing);

  [[nodiscard]] Errc code() const { return code_; }
  [[nodiscard]] int os_error() const { return os_error_; }  // 0 if the system had no part in it.
  [[nodiscard]] const std::string& doing() const { return doing_; }

  /// One line: "listen on 127.0.0.1:80: permission denied (EACCES)".
  [[nodiscard]] std::string to_string() const;

 private:
  Errc code_;
  int os_error_ = 0;
  std::string doing_;
};

template <class T = void>
using Result = std::expected<T, Error>;

/// Makes the failed side of any Result: `return failure(Errc::not_found, "open " + path);`
[[nodiscard]] inline std::unexpected<Error> failure(Errc code, std::string doing = {}) {
  return std::unexpected(Error(code, std::move(doing)));
}
[[nodiscard]] inline std::unexpected<Error> failure(Error error) {
  return std::unexpected(std::move(error));
}
[[nodiscard]] inline std::unexpected<Error> os_failure(int os_error, std::string doing) {
  return std::unexpected(Error::from_os(os_error, std::move(doing)));
}

}  // namespace sennit

#define SENNIT_CONCAT_INNER(a, b) a##b
#define SENNIT_CONCAT(a, b) SENNIT_CONCAT_INNER(a, b)
#define SENNIT_TRY_INNER(result, declaration, ...)       \
  auto result = (__VA_ARGS__);                           \
  if (!result) [[unlikely]]                              \
    return ::sennit::failure(std::move(result).error()); \
  declaration = *std::move(result)

/// SENNIT_TRY(auto file, open(path)); returns the error to our caller, or goes on with the value.
/// Not for coroutines, where `return` is no statement.
#define SENNIT_TRY(declaration, ...) \
  SENNIT_TRY_INNER(SENNIT_CONCAT(sennit_try_, __LINE__), declaration, __VA_ARGS__)
