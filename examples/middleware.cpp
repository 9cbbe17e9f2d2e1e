// Middlewares around everything, around a group, and limits of a group.

#include <chrono>
#include <string>

#include "sennit/http/cors.hpp"
#include "sennit/http/server.hpp"
#include "sennit/http/standard_middlewares.hpp"

using namespace sennit;
using namespace std::chrono_literals;

Task<http::Response> need_a_key(http::Request& request, http::Next next) {
  if (request.header("x-key") != "open sesame") {
    co_return http::problem(http::Status::unauthorized, "the key is missing or wrong");
  }
  co_return co_await next(request);
}

int main(int argc, char** argv) {
  http::Server server;
  server.use(http::request_id());
  server.use(http::cors(http::CorsOptions().allow_origin("https://app.example.com")));
  server.get("/", [](http::Request&) { return std::string("hello\n"); });
  server.readiness("/ready");
  server.get("/metrics", http::metrics_page(server)).always_served();

  http::Routes& inside = server.group("/inside").use(need_a_key).timeout(2s).body_limit(1000);
  inside.get("/treasure", [](http::Request&) { return std::string("gold\n"); });
  return server.run(http::ServerOptions(argc, argv));
}
