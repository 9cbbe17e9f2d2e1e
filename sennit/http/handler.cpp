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

}  // namespace sennit::http
