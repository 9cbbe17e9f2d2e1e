#include "sennit/base/result.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/core.h>

namespace sennit {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::cancelled:
      return "cancelled";
    case Errc::timed_out:
      return "timed out";
    case Errc::closed:
      return "closed";
    case Errc::connection_reset:
      return "connection reset by the peer";
    case Errc::connection_refused:
      return "connection refused";
    case Errc::unreachable:
      return "unreachable";
    case Errc::limit_reached:
      return "limit reached";
    case Errc::out_of_memory:
      return "out of memory";
    case Errc::invalid_argument:
      return "invalid argument";
    case Errc::malformed:
      return "malformed";
    case Errc::not_found:
      return "not found";
    case Errc::already_exists:
      return "already exists or in use";
    case Errc::permission_denied:
      return "permission denied";
    case Errc::unsupported:
      return "not supported here";
    case Errc::system:
      return "system error";
  }
  return "unknown error";
}

Errc errc_from_os(int os_error) {
  switch (os_error) {
    case ECANCELED:
      return Errc::cancelled;
    case ETIMEDOUT:
    case ETIME:
      return Errc::timed_out;
    case EPIPE:
    case ECONNRESET:
    case ECONNABORTED:
      return Errc::connection_reset;
    case ECONNREFUSED:
      return Errc::connection_refused;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
      return Errc::unreachable;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case EDQUOT:
    case ENOSPC:
      return Errc::limit_reached;
    case ENOMEM:
      return Errc::out_of_memory;
    case EINVAL:
      return Errc::invalid_argument;
    case ENOENT:
      return Errc::not_found;
    case EEXIST:
    case EADDRINUSE:
      return Errc::already_exists;
    case EACCES:
    case EPERM:
      return Errc::permission_denied;
    case ENOSYS:
    case EOPNOTSUPP:
    case EAFNOSUPPORT:
      return Errc::unsupported;
    default:
      return Errc::system;
  }
}

Error Error::from_os(int os_error, std::string doing) {
  Error error(errc_from_os(os_error), std::move(doing));
  error.os_error_ = os_error;
  return error;
}

std::string Error::to_string() const {
  std::string text = doing_.empty() ? "" : doing_ + ": ";
  text += sennit::to_string(code_);
  if (os_error_ != 0) {
    const char* name = strerrorname_np(os_error_);
    const char* description = strerrordesc_np(os_error_);
    text += name == nullptr ? fmt::format(" (errno {})", os_error_)
                            : fmt::format(" ({}: {})", name, description);
  }
  return text;
}

}  // namespace sennit
