#include "sennit/http/method.hpp"

namespace sennit::http {
namespace {
constexpr std::string_view names[method_count] = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "",
};
}

std::string_view to_string(Method method) { return names[static_cast<std::size_t>(method)]; }

Method method_from_string(std::string_view name) {
  for (std::size_t i = 0; i + 1 < method_count; ++i) {
    if (names[i] == name) return static_cast<Method>(i);
  }
  return Method::other;
}

}  // namespace sennit::http
