// The client in virtual time: what ends when, and what becomes of calls over a bad network.

#include <gtest/gtest.h>
#include <map>

#include "sennit/base/log.hpp"
#include "sennit/http/client.hpp"
#include "sennit/net/tcp.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/simulation.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;

constexpr const char* simulated_ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class ClientSimulation {
 public:
  using Script = std::function<void(net::TcpStream&)>;

  explicit ClientSimulation(std::uint64_t seed, Script script)
      : sim_({.seed = seed}), server_(sim_.add_machine("10.0.0.1")), script_(std::move(script)) {
    log::set_level(log::Level::warning);
  }

  /// Calls from another machine, until `body` has ended; then the server is stopped.
  template <class F>
  void run(F body, ClientOptions options = ClientOptions()) {
    options.resolver.use_dns = false;
    options.resolver.hosts_file.clear();
    options.resolver.table["service.test"] = {"10.0.0.1"};
    Runtime& caller = sim_.add_machine("10.0.0.2");
    server_.worker(0).post([this] { serve(); });
    caller.run([&] {
      Client client(options);
      body(client);
    });
    sim_.run_for(1000s);  // Every connection that was reset or dropped is over.
    server_.run([&] {
      is_ending_ = true;
      scope_->cancel();
      wait(scope_->join());
      scope_.reset();
    });
  }
  [[nodiscard]] Simulation& sim() { return sim_; }

  /// Reads until the end of a head; false at the end of the connection.
  static bool read_head(net::TcpStream& stream) {
    std::string head, room(1000, '\0');
    while (head.find("\r\n\r\n") == std::string::npos) {
      const auto bytes = wait(stream.read(room));
      if (!bytes || *bytes == 0) return false;
      head.append(room, 0, *bytes);
    }
    return true;
  }

 private:
  void serve() {
    scope_.emplace();
    scope_->spawn([this] {
      auto listener = net::TcpListener::listen(*net::Address::parse("10.0.0.1:80"));
      SENNIT_ASSERT(listener.has_value());
      while (!is_ending_) {
        auto accepted = wait(listener->accept());
        if (!accepted) continue;
        auto stream = std::make_shared<net::TcpStream>(*std::move(accepted));
        scope_->spawn([this, stream] { script_(*stream); });
      }
    });
  }

  Simulation sim_;
  Runtime& server_;
  Script script_;
  std::optional<Scope> scope_;
  bool is_ending_ = false;
};

std::string simulated_outcome(const ClientResult& result) {
  if (result) return std::to_string(static_cast<int>(result->status())) + " " + result->body();
  return std::string(to_string(result.error().phase())) + ": " +
         std::string(sennit::to_string(result.error().code()));
}

// Exact, since no time passes but what the test lets pass.
TEST(ClientInSimulation, KeepsToItsDeadlineInEveryPhase) {
  struct Row {
    const char* want;
    std::string said;
    std::size_t body_bytes;
    bool reads;
  };
  const Row rows[] = {
      {"first byte: timed out", "", 0, true},
      {"head: timed out", "HTTP/1.1 200 OK\r\n", 0, true},
      {"body: timed out", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 0, true},
      {"body: timed out", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", 0, true},
      {"first byte: timed out", "HTTP/1.1 103 Early\r\n\r\n", 0, true},
      {"send: timed out", "", 50'000'000, false},
  };
  for (const Row& row : rows) {
    ClientSimulation world(3, [&](net::TcpStream& stream) {
      if (row.reads && !ClientSimulation::read_head(stream)) return;
      if (!row.said.empty()) wait(stream.write(row.said));
      wait(sleep_for(500s));
    });
    world.run([&](Client& client) {
      const Clock& clock = runtime::Worker::here().clock();
      const TimePoint begun = clock.now();
      const std::string body(row.body_bytes, 'x');
      const ClientResult got =
          wait(client.post("http://service.test/", body).deadline(200ms).retry(3).idempotent());
      EXPECT_EQ(simulated_outcome(got), row.want);
      EXPECT_GE(clock.now() - begun, 200ms) << row.want;
      EXPECT_LE(clock.now() - begun, 201ms) << row.want;
    });
  }
}

TEST(ClientInSimulation, KeepsToItsDeadlineWhileItConnectsOrWaitsForItsTurn) {
  ClientSimulation world(4, [](net::TcpStream& stream) {
    if (ClientSimulation::read_head(stream)) wait(sleep_for(500s));
  });
  ClientOptions options;
  options.pool.connections_max = 1;
  world.run(
      [&](Client& client) {
        const Clock& clock = runtime::Worker::here().clock();
        Scope scope;
        scope.spawn([&] {
          EXPECT_EQ(simulated_outcome(wait(client.get("http://service.test/").deadline(10s))),
                    "first byte: timed out");
        });
        wait(sleep_for(1s));
        const TimePoint begun = clock.now();
        EXPECT_EQ(simulated_outcome(wait(client.get("http://service.test/").deadline(2s))),
                  "pool: timed out");
        EXPECT_LE(clock.now() - begun, 2001ms);
        wait(scope.join());
        world.sim().network().partition("10.0.0.1", "10.0.0.2");
        const TimePoint second = clock.now();
        EXPECT_EQ(simulated_outcome(wait(client.get("http://service.test/").deadline(2s))),
                  "connect: timed out");
        EXPECT_LE(clock.now() - second, 2001ms);
        world.sim().network().heal("10.0.0.1", "10.0.0.2");
      },
      options);
}

TEST(ClientInSimulation, InheritsTheDeadlineOfItsActivity) {
  ClientSimulation world(5, [](net::TcpStream& stream) {
    if (ClientSimulation::read_head(stream)) wait(sleep_for(500s));
  });
  world.run([&](Client& client) {
    const Clock& clock = runtime::Worker::here().clock();
    const TimePoint begun = clock.now();
    Scope scope;
    scope.spawn([&] {
      Activity::here().set_deadline(Deadline::after(300ms, clock));
      const ClientResult got = wait(client.get("http://service.test/").deadline(20s));
      EXPECT_FALSE(got.has_value());
    });
    wait(scope.join());
    EXPECT_LE(clock.now() - begun, 301ms);
  });
}

// Loss, resets, latency. Each call ends by its deadline, and an answer is the right one.
TEST(ClientInSimulation, EndsEveryCallOverABadNetwork) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ClientSimulation world(seed, [](net::TcpStream& stream) {
      while (ClientSimulation::read_head(stream)) {
        if (!wait(stream.write(simulated_ok))) return;
      }
    });
    runtime::simulated::Link link;
    link.latency_max = 20ms;
    link.loss = 0.05;
    link.reset = 0.03;
    world.sim().network().set_link("*", "*", link);
    world.run([&](Client& client) {
      const Clock& clock = runtime::Worker::here().clock();
      std::map<std::string, int> outcomes;
      Scope scope;
      for (int i = 0; i < 10; ++i) {
        scope.spawn([&] {
          for (int k = 0; k < 20; ++k) {
            const TimePoint begun = clock.now();
            const ClientResult got = wait(client.get("http://service.test/").deadline(3s).retry(3));
            EXPECT_LE(clock.now() - begun, 3010ms);
            const std::string outcome = simulated_outcome(got);
            if (got) {
              EXPECT_EQ(outcome, "200 hello");
            }
            ++outcomes[outcome];
          }
        });
      }
      wait(scope.join());
      EXPECT_GT(outcomes["200 hello"], 150) << "retries make up for most of it";
    });
  }
}

}  // namespace
}  // namespace sennit::http
