#include "sennit/http/arguments.hpp"

#include "sennit/http/detail/chars.hpp"

namespace sennit::http {
namespace detail {

Response bad_argument(std::string_view kind, std::string_view name) {
  return problem(Status::bad_request, "the " + std::string(kind) + " '" + std::string(name) +
                                          "' is missing or not what it should be");
}

std::optional<Response> wrong_type(const Request& request, std::string_view wanted) {
  std::string_view type = request.header("content-type").value_or("");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  if (equals_ignoring_case(type, wanted)) return std::nullopt;
  return problem(Status::unsupported_media_type, "the body must be " + std::string(wanted));
}

}  // namespace detail

std::expected<Form, Response> FromRequest<Form>::get(Request& request) {
  if (auto refusal = detail::wrong_type(request, "application/x-www-form-urlencoded")) {
    return std::unexpected(*std::move(refusal));
  }
  auto form = Form::parse(request.body());
  if (!form) return std::unexpected(problem(Status::bad_request, form.error().to_string()));
  return *std::move(form);
}

}  // namespace sennit::http
