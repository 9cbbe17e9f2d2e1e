#pragma once
// ServerTest: a Server on a free port, once on each I/O backend, with routes for every kind of
// handler. Tests add routes and change options before they call start().

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "sennit/base/log.hpp"
#include "sennit/http/server.hpp"
#include "sennit/http/testing/raw_client.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::http::testing {

class ServerTest : public runtime::testing::BackendTest {
 protected:
  ServerTest() {
    log::set_level(log::Level::off);
    options_.port = 0;
    options_.queue_delay_max = Duration::zero();  // A slow machine is no overload.
    options_.workers = 1;
    options_.fiber_stack_bytes = std::size_t{256} * 1024;  // Room for sanitizers' frames.
    options_.drain_idle_timeout = std::chrono::milliseconds(100);
    server_.get("/status", [](Request&) { return text("hello world"); });
    server_.get("/coro", [](Request&) -> Task<Response> { co_return text("hello coroutine"); });
    server_.get("/slow", [](Request&) {
      runtime::wait(runtime::sleep_for(std::chrono::milliseconds(20)));
      return text("slow");
    });
    server_.get("/slow-coro", [](Request&) -> Task<Response> {
      co_await runtime::sleep_for(std::chrono::milliseconds(20));
      co_return text("slow coroutine");
    });
    server_.post("/echo", [](Request& request) { return text(std::string(request.body())); });
    server_.get("/users/{id}",
                [](Request& request) { return text("user " + std::string(request.param("id"))); });
  }
  ~ServerTest() override {
    if (is_started_) stop();
    log::set_level(log::Level::warning);
  }

  void start() {
    options_.backend = GetParam();
    const Result<void> started = server_.start(options_);
    ASSERT_TRUE(started.has_value()) << started.error().to_string();
    is_started_ = true;
  }
  /// The number of requests cut off.
  std::size_t stop() {
    server_.stop();
    is_started_ = false;
    return server_.wait();
  }
  [[nodiscard]] RawClient client() const { return RawClient(server_.port()); }

  /// One request on a connection of its own; the whole response.
  [[nodiscard]] std::string ask(std::string_view request) const {
    RawClient one = client();
    one.send(request);
    return one.response(request.starts_with("HEAD"));
  }
  static std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n\r\n";
  }

  ServerOptions options_;
  Server server_;
  bool is_started_ = false;
};

}  // namespace sennit::http::testing
