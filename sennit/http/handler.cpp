#include "sennit/http/handler.hpp"

#include "sennit/base/log.hpp"

namespace sennit::http {
namespace {

Status status_for(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
    case Errc::malformed:
      return Status::bad_request;
    case Errc::permission_denied:
      return Status::forbidden;
    case Errc::not_found:
      return Status::not_found;
    case Errc::already_exists:
      return Status::conflict;
    case Errc::unsupported:
      return Status::not_implemented;
    case Errc::limit_reached:
    case Errc::out_of_memory:
      return Status::service_unavailable;
    case Errc::timed_out:
      return Status::gateway_timeout;
    case Errc::connection_reset:
    case Errc::connection_refused:
    case Errc::unreachable:
      return Status::bad_gateway;
    case Errc::cancelled:
    case Errc::closed:
    case Errc::system:
      return Status::internal_server_error;
  }
  return Status::internal_server_error;
}

}  // namespace

Response response_for(const Error& error) {
  const Status status = status_for(error.code());
  if (static_cast<int>(status) < 500) return problem(status, error.to_string());
  log::error("a handler failed: {}", error.to_string());
  return problem(status);
}

namespace detail {

Response unmatched_response(const Router::Match& match) {
  Response response;
  switch (match.found) {
    case Router::Found::options:
      response = empty(Status::no_content);
      break;
    case Router::Found::bad_request:
      response = problem(Status::bad_request, "the path has an escape that is not valid");
      break;
    case Router::Found::method_not_allowed:
      response = problem(Status::method_not_allowed);
      break;
    case Router::Found::not_found:
    case Router::Found::route:
      response = problem(Status::not_found);
  }
  if (!match.allowed.empty()) {
    const auto set = response.headers().set("Allow", to_string(match.allowed));
    SENNIT_ASSERT(set.has_value());
  }
  return response;
}

}  // namespace detail

}  // namespace sennit::http
