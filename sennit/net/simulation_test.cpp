// Clients and servers over a simulated network: whole programs in one thread, thousands of seeds.

#include "sennit/runtime/testing/simulation.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sennit/base/log.hpp"
#include "sennit/net/tcp.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/testing/seeds.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::net {
namespace {

using namespace std::chrono_literals;
using runtime::simulated::Link;
using runtime::testing::for_each_seed;
using runtime::testing::Simulation;

/// What is left of the stream; "!" and the error at the end if there was one.
std::string read_everything(TcpStream& stream) {
  std::string all, room(4096, '\0');
  for (;;) {
    const Result<std::size_t> bytes = wait(stream.read(room));
    if (!bytes) return all + "!" + std::string(to_string(bytes.error().code()));
    if (*bytes == 0) return all;
    all.append(room, 0, *bytes);
  }
}

/// Accepts `count` connections on `machine` and echoes each until its end.
void serve_echo(runtime::Runtime& machine, const Address& address, int count, int& served) {
  machine.worker(0).post([&machine, address, count, &served] {
    struct Server : runtime::FiberJob {
      Server(const Address& a, int c, int& s)
          : FiberJob([](runtime::FiberJob& job) noexcept { static_cast<Server&>(job).serve(); },
                     [](runtime::FiberJob& job) noexcept { delete &static_cast<Server&>(job); }),
            address(a),
            count(c),
            served(s) {}
      void serve() {
        auto listener = TcpListener::listen(address, {.reuse_port = true});
        ASSERT_TRUE(listener.has_value()) << listener.error().to_string();
        Scope scope;
        for (int i = 0; i < count; ++i) {
          auto accepted = wait(listener->accept());
          ASSERT_TRUE(accepted.has_value());
          scope.spawn([&, stream = std::move(*accepted)]() mutable {
            const std::string heard = read_everything(stream);
            wait(stream.write(heard));
            stream.shut_down_writing();
            read_everything(stream);
            ++served;
          });
        }
        wait(scope.join());
      }
      Address address;
      int count;
      int& served;
    };
    EXPECT_TRUE(machine.worker(0).run_on_fiber(*new Server(address, count, served)).has_value());
  });
}

/// Runs the same bad afternoon; the trace tells whether two of them were the same.
std::uint64_t transfer(std::uint64_t seed) {
  constexpr int clients = 3;
  Simulation sim({.seed = seed});
  Link bad;
  bad.latency_min = 1ms;
  bad.latency_max = 40ms;
  bad.loss = 0.02;
  bad.bytes_per_second = 10'000'000;
  bad.window_bytes = 5'000;
  sim.network().set_link("10.0.0.1", "10.0.0.2", bad);
  runtime::Runtime& server = sim.add_machine("10.0.0.1");
  runtime::Runtime& client = sim.add_machine("10.0.0.2");
  const Address address = *Address::parse("10.0.0.1:80");
  int served = 0;
  serve_echo(server, address, clients, served);
  sim.kernel().after(50ms, [&] { sim.network().partition("10.0.0.1", "10.0.0.2"); });
  sim.kernel().after(3s, [&] { sim.network().heal("10.0.0.1", "10.0.0.2"); });
  client.run([&] {
    Scope scope;
    for (int i = 0; i < clients; ++i) {
      scope.spawn([&, i] {
        std::string sent(10'000, static_cast<char>('a' + i));
        auto stream = wait(connect(address));
        ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
        EXPECT_EQ(wait(stream->write(sent)), sent.size());
        stream->shut_down_writing();
        EXPECT_TRUE(read_everything(*stream) == sent);
      });
    }
    wait(scope.join());
  });
  sim.run_until([&] { return served == clients; });
  sim.run_for(10min);
  EXPECT_EQ(sim.network().connection_count(), 0U) << "nothing is left behind";
  return sim.trace_hash();
}

TEST(NetSimulation, CarriesEverythingThroughABadNetworkUnderManySeeds) {
  for_each_seed(1000, [](std::uint64_t seed) { transfer(seed); });
}

TEST(NetSimulation, DoesTheSameAgainWithTheSameSeedAndOnlyThen) {
  std::vector<std::uint64_t> hashes;
  for_each_seed(20, [&](std::uint64_t seed) {
    hashes.push_back(transfer(seed));
    EXPECT_EQ(transfer(seed), hashes.back());
  });
  std::ranges::sort(hashes);
  EXPECT_TRUE(std::ranges::adjacent_find(hashes) == hashes.end());
}

TEST(NetSimulation, NamesWhatTheNetworkDoesToAConnection) {
  for_each_seed(200, [](std::uint64_t seed) {
    Simulation sim({.seed = seed});
    runtime::Runtime& server = sim.add_machine("10.0.0.1");
    runtime::Runtime& client = sim.add_machine("10.0.0.2");
    const Address address = *Address::parse("10.0.0.1:80");
    int served = 0;
    serve_echo(server, address, 2, served);
    client.run([&] {
      auto stream = wait(connect(address));
      ASSERT_TRUE(stream.has_value());
      wait(stream->write("hello"));
      sim.network().reset_connections("10.0.0.1", "10.0.0.2");
      EXPECT_EQ(read_everything(*stream), "!connection reset by the peer");
      auto second = wait(connect(address));
      ASSERT_TRUE(second.has_value());
      sim.network().partition("*", "10.0.0.1");
      wait(second->write("lost"));
      EXPECT_EQ(read_everything(*second), "!timed out");
      const auto third = wait(connect(address));
      ASSERT_FALSE(third.has_value());
      EXPECT_EQ(third.error().code(), Errc::timed_out);
      sim.network().heal("*", "10.0.0.1");
      const auto fourth = wait(connect(*Address::parse("10.0.0.1:81")));
      EXPECT_EQ(fourth.error().code(), Errc::connection_refused);
    });
    // The server was not told that the second client gave up, and waits for it still.
    EXPECT_EQ(served, 1);
    EXPECT_EQ(sim.network().reset_connections("*", "10.0.0.1"), 1U);
    sim.run_until([&] { return served == 2; });
  });
}

}  // namespace
}  // namespace sennit::net
