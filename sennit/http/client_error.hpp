#pragma once
// ClientError: why a call of the client failed, and in which phase of it.
//
// Thread safety: a value.

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "sennit/base/result.hpp"

namespace sennit::http {

/// How far a call had come. In this order; with redirects and retries, of the last try.
enum class Phase : unsigned char {
  prepare,     // Nothing was done yet: a bad URL, a bad header.
  resolve,     // The host's name.
  pool,        // Waiting while all connections of the origin are in use.
  connect,     // Making a connection.
  send,        // Head and body of the request.
  first_byte,  // All is sent; nothing of an answer has come.
  head,        // The answer's head has begun.
  body,        // The answer's head is there, its body not all of it.
  redirect,    // An answer that leads elsewhere, which could not be followed.
};

/// "first byte". Static storage.
[[nodiscard]] std::string_view to_string(Phase phase);

class ClientError : public Error {
 public:
  ClientError(Phase phase, Error error, unsigned tries = 0)
      : Error(std::move(error)), phase_(phase), tries_(tries) {}

  [[nodiscard]] Phase phase() const { return phase_; }
  /// Requests that were begun for the call, with retries and redirects.
  [[nodiscard]] unsigned tries() const { return tries_; }
  void set_tries(unsigned tries) { tries_ = tries; }

  /// One line: "connect: connect to 127.0.0.1:1: connection refused (ECONNREFUSED)".
  [[nodiscard]] std::string to_string() const;

 private:
  Phase phase_;
  unsigned tries_;
};

}  // namespace sennit::http
