#include "sennit/http/standard_middlewares.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "sennit/base/log.hpp"
#include "sennit/http/detail/chars.hpp"
#include "sennit/metrics/exposition.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::http {
namespace {

bool is_usable_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::ranges::all_of(id, [](char c) {
    const char low = detail::to_lower(c);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == ':';
  });
}

Task<Response> logged(Request& request, Next next) {
  const runtime::Worker& worker = runtime::Worker::here();
  const TimePoint begun = worker.now();
  Response response = co_await next(request);
  if (!log::enabled(log::Level::info)) co_return response;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto bytes = response.content_length();
  log::info("{} {} {} {} {:.1f} {}", request.method_name(), request.target(),
            static_cast<int>(response.status()), bytes ? std::to_string(*bytes) : "-",
            Milliseconds(worker.now() - begun).count(),
            response.headers().get("X-Request-Id").value_or("-"));
  co_return response;
}

Task<Response> identified(RequestIdOptions options, Request& request, Next next) {
  std::string id;
  if (options.trusts_client) id = request.header(options.header).value_or("");
  if (!is_usable_id(id)) {
    Random& random = runtime::Worker::here().random();
    id = fmt::format("{:016x}{:016x}", random.next(), random.next());
  }
  Response response = co_await next(request);
  const Result<> set = response.headers().set(options.header, id);
  if (!set) log::error("{}", set.error().to_string());
  co_return response;
}

}  // namespace

std::function<Task<Response>(Request&, Next)> access_log() {
  return [](Request& request, Next next) { return logged(request, next); };
}

std::function<Task<Response>(Request&, Next)> request_id(const RequestIdOptions& options) {
  return [options](Request& request, Next next) { return identified(options, request, next); };
}

std::function<Response(Request&)> metrics_page(const Server& server) {
  return [&server](Request& request) {
    const auto format = metrics::format_for_accept(request.header("accept").value_or(""));
    return Response(Status::ok, metrics::content_type(format),
                    metrics::exposition(server.registry(), format));
  };
}

}  // namespace sennit::http
