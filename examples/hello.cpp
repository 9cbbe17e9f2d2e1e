// The service that everything is measured with: small answers, slow ones, large ones, an echo.
//
//   hello --port 8080 --workers 2 --backend auto

#include <algorithm>
#include <charconv>
#include <string>

#include "sennit/base/random.hpp"
#include "sennit/http/server.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/wait.hpp"

using namespace sennit;

namespace {

// What /body/{bytes} is cut from.
std::string random_text(std::size_t bytes) {
  Random random(random_seed());
  std::string text;
  text.reserve(bytes);
  while (text.size() < bytes) {  // 16 letters, of 4 bits each, from one random number.
    for (std::uint64_t bits = random.next(), left = 16; left > 0; --left, bits >>= 4) {
      text.push_back(static_cast<char>('a' + (bits & 15)));
    }
  }
  text.resize(bytes);
  return text;
}

Result<std::size_t> parse_size(std::string_view text, std::size_t max) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size > max) {
    return failure(Errc::invalid_argument, "give a body of '" + std::string(text) +
                                               "' bytes (0 to " + std::to_string(max) +
                                               " are possible)");
  }
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t slow_us = 5000;
  const http::ServerOptions options(
      argc, argv,
      {http::Flag("--slow-us", "how long /long_req/ takes, in microseconds", &slow_us)});
  const Duration slow = std::chrono::microseconds(std::clamp<std::int64_t>(slow_us, 0, 60'000'000));
  const std::string large = random_text(std::size_t{16} * 1024 * 1024);

  http::Server server;
  server.get("/status", [](http::Request&) { return http::static_text("hello world"); });
  server.get("/status-coro", [](http::Request&) -> Task<http::Response> {
    co_return http::static_text("hello world");
  });
  server.get("/delayed", [](http::Request&) {
    wait(sleep_for(random_ms(10, 50)));
    return http::static_text("hello world");
  });
  server.get("/delayed-coro", [](http::Request&) -> Task<http::Response> {
    co_await sleep_for(random_ms(10, 50));
    co_return http::static_text("hello world");
  });
  server.get("/body/{bytes}", [&large](http::Request& request) -> Result<http::Response> {
    SENNIT_TRY(const std::size_t bytes, parse_size(request.param("bytes"), large.size()));
    return http::static_text(std::string_view(large).substr(0, bytes));
  });
  server.get("/long_req/", [slow](http::Request&) {
    wait(sleep_for(slow));
    return http::static_text("hello world");
  });
  server.post("/echo",
              [](http::Request& request) { return http::text(std::string(request.body())); });
  return server.run(options);
}
