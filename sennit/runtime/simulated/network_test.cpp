// What the simulated network promises to a connection.

#include "sennit/runtime/simulated/network.hpp"

#include <algorithm>
#include <string>

#include "sennit/runtime/simulated/detail/testing/network_test.hpp"
#include "sennit/runtime/testing/seeds.hpp"

namespace sennit::runtime::simulated {
namespace {

using namespace std::chrono_literals;
using simulated::detail::SocketName;
using simulated::testing::NetworkTest;
using simulated::testing::one;
using simulated::testing::other;

TEST_F(NetworkTest, NamesWhyASocketIsRefused) {
  EXPECT_EQ(network().open(one, AF_APPLETALK), -EAFNOSUPPORT);
  EXPECT_EQ(network().listen(one, name(other, 80), 1, false), -EADDRNOTAVAIL);
  const int listener = network().listen(one, name(one, 80), 1, false);
  EXPECT_GE(listener, 0);
  EXPECT_EQ(network().listen(one, name(one, 80), 1, false), -EADDRINUSE);
  EXPECT_EQ(network().listen(one, name("0.0.0.0", 80), 1, true), -EADDRINUSE);
  EXPECT_GE(network().listen(other, name("0.0.0.0", 80), 1, false), 0) << "another machine";
  EXPECT_EQ(network().accept(listener), -EAGAIN);
  EXPECT_EQ(network().accept(12345), -EBADF);
  char byte = 0;
  EXPECT_EQ(network().receive(12345, &byte, 1), -EBADF);
  EXPECT_EQ(network().send(network().open(one, AF_INET), "x"), -ENOTCONN);
  network().close(12345);
}

TEST_F(NetworkTest, RefusesAConnectionThatNobodyListensFor) {
  const int client = network().open(one, AF_INET);
  EXPECT_EQ(connect(client, name(other, 80)), -ECONNREFUSED);
}

TEST_F(NetworkTest, CarriesBytesInBothDirections) {
  const auto [client, server] = make_pair();
  EXPECT_EQ(network().send(client, "question"), 8);
  EXPECT_EQ(read(server), "") << "it takes time";
  EXPECT_EQ(read_exactly(server, 8), "question");
  EXPECT_EQ(network().send(server, "answer"), 6);
  EXPECT_EQ(read_exactly(client, 6), "answer");
}

TEST_F(NetworkTest, ReachesTheMachineItselfByLoopbackAndByAnyAddress) {
  const int any = network().listen(one, name("0.0.0.0", 80), 10, false);
  for (const char* host : {"127.0.0.1", one}) {
    const int client = network().open(one, AF_INET);
    EXPECT_EQ(connect(client, name(host, 80)), 0) << host;
    EXPECT_GE(network().accept(any), 0);
  }
  const int elsewhere = network().open(other, AF_INET);
  EXPECT_EQ(connect(elsewhere, name("127.0.0.1", 80)), -ECONNREFUSED);
  EXPECT_EQ(connect(network().open(other, AF_INET), name(one, 80)), 0);
}

TEST_F(NetworkTest, ConnectsUnixSocketsOfTheSameMachineAtOnce) {
  const SocketName path{.family = AF_UNIX, .host = "/run/x"};
  const int listener = network().listen(one, path, 1, false);
  const int client = network().open(one, AF_UNIX);
  EXPECT_EQ(network().connect(client, path), 0);
  EXPECT_EQ(network().connect(network().open(one, AF_UNIX), path), -EAGAIN) << "the queue is full";
  EXPECT_EQ(network().connect(network().open(other, AF_UNIX), path), -ECONNREFUSED);
  const int server = network().accept(listener);
  EXPECT_EQ(network().send(client, "local"), 5);
  EXPECT_EQ(read_exactly(server, 5), "local");
}

TEST_F(NetworkTest, KeepsLatencyWithinItsBounds) {
  runtime::testing::for_each_seed(200, [&](std::uint64_t seed) {
    make(seed);
    network().set_link(one, other, {.latency_min = 20ms, .latency_max = 30ms});
    Duration taken = time([&] { make_pair(); });
    EXPECT_GE(taken, 40ms);
    EXPECT_LE(taken, 60ms);
  });
}

TEST_F(NetworkTest, CarriesNoMoreThanTheBandwidth) {
  Link slow;
  slow.bytes_per_second = 1'000'000;
  slow.window_bytes = 10'000'000;
  network().set_link_one_way(one, other, slow);
  const auto [client, server] = make_pair();
  const std::string sent(2'000'000, 'x');
  const Duration taken = time([&, from = client, to = server] {
    EXPECT_EQ(network().send(from, sent), 2'000'000);
    read_exactly(to, sent.size());
  });
  EXPECT_GE(taken, 2s);
  EXPECT_LE(taken, 2100ms) << "headers and latency";
  const Duration back = time([&, from = server, to = client] {
    EXPECT_EQ(network().send(from, sent.substr(0, 200'000)), 200'000);
    read_exactly(to, 200'000);
  });
  EXPECT_LE(back, 10ms) << "the other direction has its own";
}

TEST_F(NetworkTest, SharesABandwidthBetweenConnections) {
  Link slow;
  slow.bytes_per_second = 1'000'000;
  slow.window_bytes = 10'000'000;
  network().set_link(one, other, slow);
  const auto first = make_pair();
  const auto second = make_pair();
  const std::string sent(500'000, 'x');
  const Duration taken = time([&] {
    network().send(first.first, sent);
    network().send(second.first, sent);
    read_exactly(first.second, sent.size());
    read_exactly(second.second, sent.size());
  });
  EXPECT_GE(taken, 1s);
}

TEST_F(NetworkTest, ShowsLossAsDelayAndLosesNothing) {
  Link bad;
  bad.loss = 0.2;
  Duration longest{};
  runtime::testing::for_each_seed(200, [&](std::uint64_t seed) {
    make(seed);
    network().set_link_one_way(one, other, bad);
    const auto [client, server] = make_pair();
    std::string sent;
    for (int i = 0; i < 20; ++i) sent += std::to_string(seed * 31 + i);
    for (const char letter : sent) network().send(client, {&letter, 1});
    longest = std::max(longest,
                       time([&, to = server] { EXPECT_EQ(read_exactly(to, sent.size()), sent); }));
  });
  EXPECT_GE(longest, 600ms) << "some segment was lost twice: 200 ms, then 400 more";
}

TEST_F(NetworkTest, EndsOneDirectionAndLeavesTheOther) {
  const auto [client, server] = make_pair();
  network().send(client, "last words");
  network().shut_down_writing(client);
  EXPECT_EQ(network().send(client, "more"), -EPIPE);
  EXPECT_EQ(read_exactly(server, 11), "last words.");
  EXPECT_EQ(network().send(server, "heard"), 5);
  EXPECT_EQ(read_exactly(client, 5), "heard");
}

TEST_F(NetworkTest, TellsAnOrderlyCloseAfterAllThatWasSent) {
  const auto [client, server] = make_pair();
  network().send(client, "bye");
  network().close(client);
  EXPECT_EQ(read_exactly(server, 4), "bye.");
  network().close(server);
  kernel().run_for(1s);
  EXPECT_EQ(network().connection_count(), 0U);
}

}  // namespace
}  // namespace sennit::runtime::simulated
