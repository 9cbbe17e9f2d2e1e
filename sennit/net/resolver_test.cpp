#include "sennit/net/resolver.hpp"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sennit/base/random.hpp"
#include "sennit/net/testing/fake_dns.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::net {
namespace {

using namespace std::chrono_literals;
using testing::DnsQuery;
using testing::FakeDns;

class ResolverTest : public runtime::testing::BackendTest {
 protected:
  static std::string v4(int last) { return std::string("\x0a\0\0", 3) + static_cast<char>(last); }
  static std::string v6(int last) {
    return std::string("\x20\x01\x0d\xb8", 4) + std::string(11, '\0') + static_cast<char>(last);
  }
  /// Both families, one address each.
  static std::vector<std::string> usual(const DnsQuery& query) {
    if (query.type() == DnsQuery::type_a) return {query.answer({v4(1)})};
    if (query.type() == DnsQuery::type_aaaa) return {query.answer({v6(1)})};
    return {query.refuse(3)};
  }
  static ResolverOptions asking(const FakeDns& dns) {
    ResolverOptions options;
    options.hosts_file.clear();
    options.servers = {dns.address()};
    options.try_timeout = 5s;  // Room for a slow machine: no test waits for it unless it says so.
    return options;
  }
  static Deadline patience() { return Deadline::after(60s, runtime::Worker::here().clock()); }
  static std::string show(const Result<std::vector<Address>>& found) {
    if (!found) return std::string(to_string(found.error().code()));
    std::string all;
    for (const Address& address : *found) all += address.to_string() + " ";
    return all;
  }
  static std::string ask(Resolver& resolver, std::string_view host) {
    const auto found = wait(resolver.resolve(host, 80, patience()));
    return show(found);
  }
};

TEST_P(ResolverTest, KnowsLiteralsAndLoopbackWithoutAsking) {
  runtime().run([] {
    FakeDns dns(usual);
    Resolver resolver(asking(dns));
    EXPECT_EQ(ask(resolver, "127.0.0.1"), "127.0.0.1:80 ");
    EXPECT_EQ(ask(resolver, "2001:db8::7"), "[2001:db8::7]:80 ");
    EXPECT_EQ(ask(resolver, "LocalHost"), "127.0.0.1:80 [::1]:80 ");
    EXPECT_EQ(ask(resolver, "service.localhost"), "127.0.0.1:80 [::1]:80 ");
    EXPECT_EQ(resolver.query_count(), 0U);
    EXPECT_EQ(dns.count(), 0);
  });
}

TEST_P(ResolverTest, RefusesWhatCannotBeAName) {
  runtime().run([] {
    FakeDns dns(usual);
    Resolver resolver(asking(dns));
    const std::string bad[] = {"",
                               ".",
                               "a..b",
                               ".a",
                               "a b",
                               "a/b",
                               std::string("a\0b", 3),
                               "a\nb",
                               "\xff",
                               std::string(64, 'a'),
                               "[::1]",
                               "a@b",
                               std::string(254, 'a')};
    for (const std::string& name : bad) EXPECT_EQ(ask(resolver, name), "invalid argument") << name;
    EXPECT_EQ(dns.count(), 0);
  });
}

TEST_P(ResolverTest, AsksForBothFamiliesAndRemembers) {
  runtime().run([] {
    FakeDns dns(usual);
    Resolver resolver(asking(dns));
    EXPECT_EQ(ask(resolver, "Example.test"), "[2001:db8::1]:80 10.0.0.1:80 ");
    EXPECT_EQ(dns.count(), 2);
    EXPECT_EQ(ask(resolver, "example.TEST"), "[2001:db8::1]:80 10.0.0.1:80 ");
    EXPECT_EQ(dns.count(), 2);
    EXPECT_EQ(resolver.query_count(), 1U);
  });
}

TEST_P(ResolverTest, CanBeAwaitedByACoroutine) {
  runtime().run([]() -> Task<> {
    FakeDns dns(usual);
    Resolver resolver(asking(dns));
    const auto found = co_await resolver.resolve("example.test", 8080, patience());
    EXPECT_EQ(show(found), "[2001:db8::1]:8080 10.0.0.1:8080 ");
  });
}

TEST_P(ResolverTest, AnswersWithTheFamilyThatThereIs) {
  runtime().run([] {
    FakeDns dns([](const DnsQuery& query) -> std::vector<std::string> {
      if (query.type() == DnsQuery::type_a) return {query.answer({v4(1), v4(2)})};
      return {query.answer({})};
    });
    Resolver resolver(asking(dns));
    EXPECT_EQ(ask(resolver, "four.test"), "10.0.0.1:80 10.0.0.2:80 ");
  });
}

TEST_P(ResolverTest, RemembersThatANameDoesNotExist) {
  runtime().run([] {
    FakeDns dns(
        [](const DnsQuery& query) -> std::vector<std::string> { return {query.refuse(3)}; });
    Resolver resolver(asking(dns));
    EXPECT_EQ(ask(resolver, "absent.test"), "not found");
    const int asked = dns.count();
    EXPECT_EQ(ask(resolver, "absent.test"), "not found");
    EXPECT_EQ(dns.count(), asked);
    EXPECT_EQ(resolver.cached_count(), 1U);
  });
}

TEST_P(ResolverTest, SharesOneQueryAmongCallersOfAName) {
  runtime().run([] {
    FakeDns dns(usual);
    Resolver resolver(asking(dns));
    Scope scope;
    int answered = 0;
    for (int i = 0; i < 50; ++i) {
      scope.spawn([&] {
        answered += ask(resolver, "shared.test") == "[2001:db8::1]:80 10.0.0.1:80 " ? 1 : 0;
      });
    }
    wait(scope.join());
    EXPECT_EQ(answered, 50);
    EXPECT_EQ(resolver.query_count(), 1U);
    EXPECT_EQ(dns.count(), 2);
  });
}

TEST_P(ResolverTest, EndsAtTheDeadlineWhenNobodyAnswers) {
  runtime().run([] {
    FakeDns dns([](const DnsQuery&) { return std::vector<std::string>(); });
    Resolver resolver(asking(dns));
    const Clock& clock = runtime::Worker::here().clock();
    const auto found = wait(resolver.resolve("silent.test", 80, Deadline::after(20ms, clock)));
    EXPECT_EQ(show(found), "timed out");
    const auto late = wait(resolver.resolve("late.test", 80, Deadline::at(clock.now() - 1s)));
    EXPECT_EQ(show(late), "timed out");
    EXPECT_EQ(resolver.query_count(), 1U) << "what is late already asks nobody";
  });
}

TEST_P(ResolverTest, GivesUpWhenItsTriesAreOver) {
  runtime().run([] {
    FakeDns dns([](const DnsQuery&) { return std::vector<std::string>(); });
    ResolverOptions options = asking(dns);
    options.try_timeout = 10ms;
    options.tries = 1;
    Resolver resolver(options);
    EXPECT_EQ(ask(resolver, "silent.test"), "timed out");
    EXPECT_EQ(resolver.cached_count(), 0U);
  });
}

TEST_P(ResolverTest, EndsACancelledLookup) {
  runtime().run([] {
    FakeDns dns([](const DnsQuery&) { return std::vector<std::string>(); });
    Resolver resolver(asking(dns));
    auto lookup = resolver.resolve("silent.test", 80, patience());
    Scope scope;
    scope.spawn([&] { EXPECT_EQ(show(wait(lookup)), "cancelled"); });
    scope.spawn([&] {
      wait(yield());
      lookup.cancel();
      lookup.cancel();
    });
    wait(scope.join());
  });
}

TEST_P(ResolverTest, LimitsQueriesAndCallers) {
  runtime().run([] {
    FakeDns dns([](const DnsQuery&) { return std::vector<std::string>(); });
    ResolverOptions options = asking(dns);
    options.queries_max = 1;
    options.waiting_max = 2;
    Resolver resolver(options);
    auto first = resolver.resolve("one.test", 80, patience());
    auto second = resolver.resolve("one.test", 80, patience());
    Scope scope;
    scope.spawn([&] { EXPECT_EQ(show(wait(first)), "cancelled"); });
    wait(yield());
    wait(yield());
    EXPECT_EQ(ask(resolver, "two.test"), "limit reached");
    scope.spawn([&] { EXPECT_EQ(show(wait(second)), "cancelled"); });
    wait(yield());
    wait(yield());
    EXPECT_EQ(ask(resolver, "one.test"), "limit reached");
    first.cancel();
    second.cancel();
    wait(scope.join());
  });
}

TEST_P(ResolverTest, BoundsWhatAHostileServerSends) {
  runtime().run([] {
    FakeDns dns([](const DnsQuery& query) -> std::vector<std::string> {
      std::vector<std::string> many;
      for (int i = 0; i < 30; ++i) {
        many.push_back(query.type() == DnsQuery::type_a ? v4(i + 1) : v6(i + 1));
      }
      return {query.answer(many, UINT32_MAX)};
    });
    Resolver resolver(asking(dns));
    const auto found = wait(resolver.resolve("many.test", 80, patience()));
    ASSERT_TRUE(found.has_value()) << show(found);
    EXPECT_LE(found->size(), 16U);
  });
}

// Each is followed by the right answer, so that what is ignored does not make the test wait.
TEST_P(ResolverTest, SurvivesMalformedAnswers) {
  runtime().run([] {
    Random random(11);
    FakeDns dns([&random](const DnsQuery& query) {
      const std::string good = usual(query).front();
      std::vector<std::string> packets;
      std::string other_id = good;
      other_id[0] = static_cast<char>(other_id[0] ^ 0x55);
      packets.push_back(other_id);
      packets.push_back(good.substr(0, 7));
      packets.push_back(std::string(3, '\0'));
      std::string pointer_loop = query.answer({"\xc0\x0c"});
      pointer_loop[0] = static_cast<char>(pointer_loop[0] ^ 0x2a);
      packets.push_back(pointer_loop);
      for (int i = 0; i < 10; ++i) {
        std::string noise = good;
        for (int k = 0; k < 5; ++k) {
          noise[2 + random.below(noise.size() - 2)] = static_cast<char>(random.below(256));
        }
        noise[0] = static_cast<char>(noise[0] ^ 0x11);
        packets.push_back(noise);
      }
      packets.push_back(good);
      return packets;
    });
    Resolver resolver(asking(dns));
    EXPECT_EQ(ask(resolver, "noisy.test"), "[2001:db8::1]:80 10.0.0.1:80 ");
  });
}

// With the right identifier: whatever c-ares makes of it, it is an answer or an error, in time.
TEST_P(ResolverTest, EndsWhateverBytesTheRightServerSends) {
  runtime().run([] {
    Random random(12);
    FakeDns dns([&random](const DnsQuery& query) -> std::vector<std::string> {
      std::string packet = usual(query).front();
      for (int k = 0; k < 4; ++k) {
        packet[12 + random.below(packet.size() - 12)] = static_cast<char>(random.below(256));
      }
      packet.resize(12 + random.below(packet.size() - 11));
      return {packet};
    });
    ResolverOptions options = asking(dns);
    options.try_timeout = 5ms;
    options.tries = 1;
    Resolver resolver(options);
    Scope scope;
    int ended = 0;
    for (int i = 0; i < 100; ++i) {
      scope.spawn([&resolver, &ended, i] {
        ask(resolver, "fuzzed" + std::to_string(i) + ".test");
        ++ended;
      });
    }
    wait(scope.join());
    EXPECT_EQ(ended, 100);
  });
}

TEST_P(ResolverTest, ReadsHostsAndTheTableBeforeItAsks) {
  const std::string path =
      "/tmp/sennit-hosts-" + std::to_string(::getpid()) + ::testing::PrintToString(GetParam());
  std::ofstream(path) << "10.9.9.9 filed.test\n10.9.9.8 both.test\n";
  runtime().run([&] {
    FakeDns dns(usual);
    ResolverOptions options = asking(dns);
    options.hosts_file = path;
    options.table["tabled.test"] = {"10.8.8.8", "::8"};
    options.table["both.test"] = {"10.8.8.9"};
    options.table["gone.test"] = {};
    Resolver resolver(options);
    EXPECT_EQ(ask(resolver, "filed.test"), "10.9.9.9:80 ");
    EXPECT_EQ(ask(resolver, "tabled.test"), "10.8.8.8:80 [::8]:80 ");
    EXPECT_EQ(ask(resolver, "both.test"), "10.8.8.9:80 ");
    EXPECT_EQ(ask(resolver, "gone.test"), "not found");
    EXPECT_EQ(resolver.query_count(), 0U);
  });
  std::remove(path.c_str());
}

TEST_P(ResolverTest, AsksNobodyWhenToldNotTo) {
  runtime().run([] {
    ResolverOptions options;
    options.use_dns = false;
    options.hosts_file = "/nonexistent/hosts";
    Resolver resolver(options);
    EXPECT_EQ(ask(resolver, "example.test"), "not found");
  });
}

TEST_P(ResolverTest, NamesServersThatItCannotUse) {
  runtime().run([] {
    ResolverOptions options;
    options.servers = {"not a server"};
    Resolver resolver(options);
    EXPECT_EQ(ask(resolver, "example.test"), "invalid argument");
  });
}

TEST_P(ResolverTest, CanBeDestroyedWhileAQueryIsUnderWay) {
  runtime().run([] {
    FakeDns dns([](const DnsQuery&) { return std::vector<std::string>(); });
    Resolver resolver(asking(dns));
    const Clock& clock = runtime::Worker::here().clock();
    const auto found = wait(resolver.resolve("silent.test", 80, Deadline::after(1ms, clock)));
    EXPECT_EQ(show(found), "timed out");
  });
}

SENNIT_FOR_EACH_BACKEND(ResolverTest);

}  // namespace
}  // namespace sennit::net
