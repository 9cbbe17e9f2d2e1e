// What the simulated network does wrong on purpose, and what it runs out of.

#include <set>
#include <vector>

#include "sennit/runtime/simulated/detail/testing/network_test.hpp"
#include "sennit/runtime/simulated/network.hpp"
#include "sennit/runtime/testing/seeds.hpp"

namespace sennit::runtime::simulated {
namespace {

using namespace std::chrono_literals;
using simulated::testing::NetworkTest;
using simulated::testing::one;
using simulated::testing::other;

using NetworkFaultsTest = NetworkTest;

TEST_F(NetworkFaultsTest, ResetsWhoeverSendsToAClosedEnd) {
  const auto [client, server] = make_pair();
  network().close(server);
  EXPECT_EQ(network().send(client, "anybody?"), 8) << "it does not know yet";
  kernel().run_for(1s);
  EXPECT_EQ(read(client), "!" + std::to_string(ECONNRESET));
  EXPECT_EQ(network().send(client, "x"), -EPIPE) << "the error is told once";
}

TEST_F(NetworkFaultsTest, ResetsThePeerOfWhoClosesWithBytesUnread) {
  const auto [client, server] = make_pair();
  network().send(client, "never read");
  kernel().run_for(1s);
  network().close(server);
  kernel().run_for(1s);
  EXPECT_EQ(read(client), "!" + std::to_string(ECONNRESET));
}

TEST_F(NetworkFaultsTest, ResetsBothEndsOnRequestAndLeavesWhatHadArrived) {
  const auto [client, server] = make_pair();
  network().send(client, "arrived");
  kernel().run_for(1s);
  network().send(client, "under way");
  EXPECT_EQ(network().reset_connections(one, other), 1U);
  EXPECT_EQ(network().reset_connections(one, "10.0.0.3"), 0U);
  EXPECT_EQ(read(server), "arrived!" + std::to_string(ECONNRESET));
  EXPECT_EQ(network().send(client, "x"), -ECONNRESET);
  EXPECT_EQ(network().send(client, "x"), -EPIPE);
}

TEST_F(NetworkFaultsTest, ResetsSegmentsAtTheirProbability) {
  int resets = 0;
  constexpr int count = 400;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    make(seed);
    Link bad;
    bad.reset = 0.5;
    network().set_link(one, other, bad);
    const auto [client, server] = make_pair();
    network().send(client, "x");
    kernel().run_for(1s);
    if (network().send(client, "x") == -ECONNRESET) ++resets;
  }
  EXPECT_GT(resets, count / 4);
  EXPECT_LT(resets, count * 3 / 4);
}

TEST_F(NetworkFaultsTest, HoldsEverythingDuringAPartitionAndLosesNothing) {
  runtime::testing::for_each_seed(100, [&](std::uint64_t seed) {
    make(seed);
    const auto [client, server] = make_pair();
    network().send(client, "before ");
    network().partition(one, other);
    network().send(client, "during ");
    kernel().run_for(1min);
    EXPECT_EQ(read(server), "");
    network().heal(one, other);
    network().send(client, "after");
    EXPECT_EQ(read_exactly(server, 19), "before during after");
  });
}

TEST_F(NetworkFaultsTest, GivesUpOnAPartitionThatStays) {
  const auto [client, server] = make_pair();
  network().partition("*", other);
  network().send(client, "hello?");
  kernel().run_for(920s);
  EXPECT_EQ(read(client), "");
  kernel().run_for(10s);
  EXPECT_EQ(read(client), "!" + std::to_string(ETIMEDOUT));
  const int late = network().open(one, AF_INET);
  const Duration taken = time([&] { EXPECT_EQ(connect(late, name(other, 80)), -ETIMEDOUT); });
  EXPECT_GE(taken, 127s);
  EXPECT_LE(taken, 128s);
}

TEST_F(NetworkFaultsTest, ConnectsOnceAPartitionHasHealed) {
  network().listen(other, name(other, 80), 10, false);
  network().partition(one, other);
  kernel().after(10s, [&] { network().heal(other, one); });
  const int client = network().open(one, AF_INET);
  const Duration taken = time([&] { EXPECT_EQ(connect(client, name(other, 80)), 0); });
  EXPECT_GE(taken, 15s) << "attempts after 1, 3, 7 and 15 s";
  EXPECT_LE(taken, 16s);
}

TEST_F(NetworkFaultsTest, ReordersConnectionsButNeverOneConnection) {
  int overtaken = 0;
  runtime::testing::for_each_seed(200, [&](std::uint64_t seed) {
    make(seed);
    const auto first = make_pair();
    const auto second = make_pair();
    network().send(first.first, "a");
    network().send(second.first, "b");
    std::string earlier, later;
    kernel().run_until([&] {
      earlier += read(first.second);
      later += read(second.second);
      return !earlier.empty() || !later.empty();
    });
    if (earlier.empty()) ++overtaken;
    std::string sent, heard;
    for (int i = 0; i < 50; ++i) {
      const std::string piece = std::to_string(i) + ",";
      network().send(second.second, piece);
      sent += piece;
    }
    EXPECT_EQ(read_exactly(second.first, sent.size()), sent);
  });
  EXPECT_GT(overtaken, 0);
}

TEST_F(NetworkFaultsTest, MakesASenderWaitForItsReader) {
  Link narrow;
  narrow.window_bytes = 1000;
  network().set_link(one, other, narrow);
  const auto [client, server] = make_pair();
  EXPECT_EQ(network().send(client, std::string(5000, 'x')), 1000);
  EXPECT_EQ(network().send(client, "y"), -EAGAIN);
  kernel().run_for(1min);
  EXPECT_EQ(network().send(client, "y"), -EAGAIN) << "arrived, but not read";
  EXPECT_EQ(read(server).size(), 1000U);
  kernel().run_for(1s);
  EXPECT_EQ(network().send(client, std::string(5000, 'x')), 1000);
}

TEST_F(NetworkFaultsTest, RunsOutOfDescriptorsAndTakesTheConnectionLater) {
  make(1, 3);
  const int listener = network().listen(other, name(other, 80), 10, false);
  const int client = network().open(one, AF_INET);
  EXPECT_EQ(connect(client, name(other, 80)), 0);
  const int third = network().open(one, AF_INET);
  EXPECT_EQ(network().open(one, AF_INET), -EMFILE);
  EXPECT_EQ(network().accept(listener), -EMFILE);
  network().close(third);
  EXPECT_GE(network().accept(listener), 0);
}

TEST_F(NetworkFaultsTest, DropsAttemptsOnAFullQueueUntilThereIsRoom) {
  const int listener = network().listen(other, name(other, 80), 1, false);
  const int first = network().open(one, AF_INET), second = network().open(one, AF_INET);
  EXPECT_EQ(connect(first, name(other, 80)), 0);
  EXPECT_EQ(network().connect(second, name(other, 80)), -EINPROGRESS);
  kernel().run_for(10s);
  EXPECT_EQ(network().connect_result(second), -EINPROGRESS);
  EXPECT_GE(network().accept(listener), 0);
  kernel().run_for(10s);
  EXPECT_EQ(network().connect_result(second), 0);
}

TEST_F(NetworkFaultsTest, SpreadsConnectionsOverListenersThatShareAPort) {
  const std::vector<int> listeners = {network().listen(other, name(other, 80), 1000, true),
                                      network().listen(other, name(other, 80), 1000, true)};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(connect(network().open(one, AF_INET), name(other, 80)), 0);
  }
  network().refuse_new_connections(listeners[0]);
  for (const int listener : listeners) {
    int count = 0;
    while (network().accept(listener) >= 0) ++count;
    EXPECT_GT(count, 20);
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(connect(network().open(one, AF_INET), name(other, 80)), 0);
  }
  EXPECT_EQ(network().accept(listeners[0]), -EAGAIN) << "it refuses";
}

TEST_F(NetworkFaultsTest, ResetsTheUnacceptedWhenAListenerCloses) {
  const int listener = network().listen(other, name(other, 80), 10, false);
  const int client = network().open(one, AF_INET);
  EXPECT_EQ(connect(client, name(other, 80)), 0);
  network().close(listener);
  kernel().run_for(1s);
  EXPECT_EQ(read(client), "!" + std::to_string(ECONNRESET));
}

TEST_F(NetworkFaultsTest, DoesTheSameAgainWithTheSameSeed) {
  const auto trace = [&](std::uint64_t seed) {
    make(seed);
    Link bad;
    bad.loss = 0.1;
    network().set_link(one, other, bad);
    const int listener = network().listen(other, name(other, 80), 10, false);
    const int client = network().open(one, AF_INET);
    EXPECT_EQ(connect(client, name(other, 80)), 0);
    const int server = network().accept(listener);
    for (int i = 0; i < 10; ++i) network().send(client, std::string(10'000, 'x'));
    read_exactly(server, 100'000);
    return kernel().trace_hash();
  };
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::uint64_t hash = trace(seed);
    EXPECT_EQ(trace(seed), hash);
    seen.insert(hash);
  }
  EXPECT_EQ(seen.size(), 50U);
}

}  // namespace
}  // namespace sennit::runtime::simulated
