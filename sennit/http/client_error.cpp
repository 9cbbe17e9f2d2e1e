#include "sennit/http/client_error.hpp"

namespace sennit::http {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::prepare:
      return "prepare";
    case Phase::resolve:
      return "resolve";
    case Phase::pool:
      return "pool";
    case Phase::connect:
      return "connect";
    case Phase::send:
      return "send";
    case Phase::first_byte:
      return "first byte";
    case Phase::head:
      return "head";
    case Phase::body:
      return "body";
    case Phase::redirect:
      return "redirect";
  }
  return "unknown phase";
}

std::string ClientError::to_string() const {
  std::string text = std::string(http::to_string(phase_)) + ": " + Error::to_string();
  if (tries_ > 1) text += " (tried " + std::to_string(tries_) + " times)";
  return text;
}

}  // namespace sennit::http
