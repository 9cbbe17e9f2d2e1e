// A whole server and its clients in a simulation: one thread, virtual time, bad networks.

#include <gtest/gtest.h>
#include <string>

#include "sennit/base/log.hpp"
#include "sennit/http/server.hpp"
#include "sennit/net/tcp.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/seeds.hpp"
#include "sennit/runtime/testing/simulation.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using runtime::testing::Simulation;

/// What a GET over a connection of its own brings; "!" and the error if it fails.
std::string simulated_get(const net::Address& address, const std::string& path) {
  auto stream = wait(net::connect(address));
  if (!stream) return "!" + std::string(to_string(stream.error().code()));
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n";
  if (!wait(stream->write(request))) return "!";
  std::string all, room(1000, '\0');
  for (;;) {
    const Result<std::size_t> bytes = wait(stream->read(room));
    if (!bytes) return "!" + std::string(to_string(bytes.error().code()));
    if (*bytes == 0) return all;
    all.append(room, 0, *bytes);
  }
}

TEST(ServerSimulation, AnswersEveryRequestOverABadNetworkUnderManySeeds) {
  log::set_level(log::Level::warning);
  runtime::testing::for_each_seed(200, [](std::uint64_t seed) {
    Simulation sim({.seed = seed});
    runtime::simulated::Link bad;
    bad.latency_max = 30ms;
    bad.loss = 0.05;
    sim.network().set_link("10.0.0.1", "10.0.0.2", bad);
    Server server;
    server.get("/status", [](Request&) { return text("hello world"); });
    server.get("/slow", [](Request&) {
      runtime::wait(runtime::sleep_for(60s));
      return text("slow");
    });
    server.get("/coro", [](Request&) -> Task<Response> {
      co_await runtime::sleep_for(1s);
      co_return text("coroutine");
    });
    ServerOptions options;
    options.host = "0.0.0.0";
    options.port = 80;
    options.workers = 2;
    options.fiber_stack_bytes = std::size_t{256} * 1024;
    options.backend = runtime::io::BackendKind::simulated;
    options.backend_options = sim.backend_options("10.0.0.1");
    const Result<void> started = server.start(options);
    ASSERT_TRUE(started.has_value()) << started.error().to_string();
    runtime::Runtime& client = sim.add_machine("10.0.0.2");
    const net::Address address = *net::Address::parse("10.0.0.1:80");
    client.run([&] {
      Scope scope;
      struct Asked {
        std::string path, body;
      };
      for (const auto& [path, body] :
           {Asked{"/status", "hello world"}, Asked{"/slow", "slow"}, Asked{"/coro", "coroutine"}}) {
        for (int i = 0; i < 3; ++i) {
          scope.spawn([&address, asked = path, wanted = body] {
            const std::string answer = simulated_get(address, asked);
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
            EXPECT_TRUE(answer.ends_with("\r\n\r\n" + wanted)) << answer;
          });
        }
      }
      wait(scope.join());
    });
    server.stop();
    EXPECT_EQ(server.wait(), 0U) << "requests cut off";
    EXPECT_EQ(client.run([&] { return simulated_get(address, "/status"); }), "!connection refused");
  });
}

}  // namespace
}  // namespace sennit::http
