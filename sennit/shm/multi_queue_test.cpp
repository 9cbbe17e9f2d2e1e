#include "sennit/shm/multi_queue.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <signal.h>
#include <thread>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/shm/testing/child.hpp"
#include "sennit/shm/testing/places.hpp"
#include "sennit/shm/testing/stop_writer.hpp"

namespace sennit::shm {
namespace {

using testing::Child;
using testing::StopWriter;
using HookedMultiQueue = BasicMultiQueue<HookedStore>;

class MultiQueueTest : public ::testing::Test {
 protected:
  using Message = std::array<std::uint64_t, 5>;  // Who, its number, and twice their sum.

  static MultiQueueOptions options(std::uint64_t slots) {
    MultiQueueOptions made;
    made.slot_count = slots;
    made.message_bytes_max = sizeof(Message);
    return made;
  }
  template <class Q = MultiQueue>
  static Q make(std::uint64_t slots) {
    auto made = Q::create(Place::anonymous(), options(slots));
    EXPECT_TRUE(made) << made.error().to_string();
    return std::move(*made);
  }
  static Message message(std::uint64_t who, std::uint64_t number) {
    return {who, number, who * 1'000'003 + number, ~number, number ^ 0x5555};
  }
  template <class Producer>
  static Push push(Producer& producer, std::uint64_t who, std::uint64_t number) {
    const Message made = message(who, number);
    return producer.push(std::as_bytes(std::span(made)));
  }
  /// Zeros unless it is whole.
  static Message read(std::span<const std::byte> bytes) {
    Message got{};
    if (bytes.size() == sizeof(got)) std::memcpy(got.data(), bytes.data(), sizeof(got));
    return got == message(got[0], got[1]) ? got : Message{};
  }
  const RealClock clock_;
  testing::Places places_;
};

TEST_F(MultiQueueTest, EachProducersMessagesArriveInItsOrder) {
  MultiQueue queue = make(16);
  auto consumer = queue.consumer();
  ASSERT_TRUE(consumer);
  constexpr std::uint64_t count = 20'000;
  std::vector<std::thread> threads;
  for (std::uint64_t who = 1; who <= 3; ++who) {
    threads.emplace_back([&queue, who] {
      auto producer = queue.producer();
      for (std::uint64_t i = 1; i <= count;) {
        if (push(*producer, who, i) == Push::pushed) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  const Deadline deadline = Deadline::after(std::chrono::seconds(100), clock_);
  std::array<std::uint64_t, 4> last{};
  bool in_order = true;
  for (std::uint64_t got = 0; got < 3 * count && consumer->wait(deadline, clock_); ++got) {
    const Message read_one = read(*consumer->peek());
    in_order = in_order && read_one[0] != 0 && read_one[1] == ++last[read_one[0]];
    consumer->release();
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(last[1] + last[2] + last[3], 3 * count);
}

TEST_F(MultiQueueTest, SaysWhetherItIsFullOrAMessageTooLarge) {
  MultiQueue queue = make(4);
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(push(*producer, 1, i), Push::pushed);
  EXPECT_EQ(push(*producer, 1, 4), Push::full);
  ASSERT_TRUE(consumer->peek());
  consumer->release();
  EXPECT_EQ(push(*producer, 1, 4), Push::pushed);
  EXPECT_EQ(producer->push(std::vector<std::byte>(41)), Push::too_large);
  EXPECT_EQ(queue.consumer().error().code(), Errc::already_exists);
}

TEST_F(MultiQueueTest, AProducerStoppedAtAnyStoreIsPassedOver) {
  int stops = 0;
  for (;; ++stops) {
    HookedMultiQueue queue = make<HookedMultiQueue>(4);
    std::uint64_t acknowledged = 0;
    const bool stopped = StopWriter::stops_at(stops, [&] {
      auto producer = queue.producer();
      for (std::uint64_t i = 1; i <= 3; ++i) {
        if (push(*producer, 1, i) == Push::pushed) ++acknowledged;
      }
    });
    // Its process is dead.
    auto* const shared = reinterpret_cast<MultiQueueShared*>(queue.segment().body().data());
    if (shared->producers[0].load() != 0) shared->producers[0].fetch_or(0x3fffff);
    auto other = queue.producer();
    auto consumer = queue.consumer();
    ASSERT_TRUE(other && consumer) << stops;
    ASSERT_EQ(push(*other, 2, 1), Push::pushed) << stops;
    std::uint64_t seen = 0;
    while (const auto got = consumer->peek()) {
      const Message read_one = read(*got);
      if (read_one[0] == 2) break;
      ASSERT_EQ(read_one[1], ++seen) << stops;
      consumer->release();
    }
    ASSERT_TRUE(consumer->peek()) << stops << ": the message behind it must arrive";
    EXPECT_GE(seen, acknowledged) << stops;
    EXPECT_LE(seen, acknowledged + 1) << stops;
    EXPECT_LE(consumer->passed_over() + other->recovery().discarded, 1u);
    if (!stopped) break;
  }
  EXPECT_GT(stops, 20);
}

TEST_F(MultiQueueTest, AConsumerStoppedAtAnyStoreIsTakenOverFrom) {
  for (int stops = 0;; ++stops) {
    HookedMultiQueue queue = make<HookedMultiQueue>(4);
    auto producer = queue.producer();
    for (std::uint64_t i = 1; i <= 4; ++i) ASSERT_EQ(push(*producer, 1, i), Push::pushed);
    std::uint64_t released = 0;
    const bool stopped = StopWriter::stops_at(stops, [&] {
      auto consumer = queue.consumer();
      for (; consumer->peek(); ++released) consumer->release();
    });
    StopWriter::kill_owners(queue.segment());
    auto consumer = queue.consumer();
    ASSERT_TRUE(consumer) << stops;
    std::uint64_t next = 0;
    for (; const auto got = consumer->peek(); ++next) {
      const std::uint64_t number = read(*got)[1];
      if (next == 0) next = number;
      ASSERT_EQ(number, next) << stops;
      consumer->release();
    }
    if (next != 0) {
      EXPECT_EQ(next, 5u);
    } else {
      EXPECT_GE(released + 1, 4u);
    }
    ASSERT_EQ(push(*producer, 1, 9), Push::pushed) << stops;
    ASSERT_TRUE(consumer->peek()) << stops;
    if (!stopped) break;
  }
}

TEST_F(MultiQueueTest, KilledProducersLoseNothingAcknowledgedAndHoldUpNobody) {
  const Place place = places_.posix();
  auto queue = MultiQueue::create(place, options(8));
  ASSERT_TRUE(queue) << queue.error().to_string();
  Layout layout;
  layout.body_bytes = 64;
  const auto control = Segment::create(Place::anonymous(), layout);
  ASSERT_TRUE(control);
  auto* const acknowledged = reinterpret_cast<std::atomic<std::uint64_t>*>(control->body().data());
  auto consumer = queue->consumer();
  Random random(7);
  std::array<std::uint64_t, 3> last{};
  const auto drain = [&] {
    while (const auto got = consumer->peek()) {
      const Message read_one = read(*got);
      if (read_one[0] < 1 || read_one[0] > 2 || read_one[1] != ++last[read_one[0]]) return false;
      consumer->release();
    }
    return !consumer->is_damaged();
  };
  const auto produce = [&](std::uint64_t who) {
    auto there = MultiQueue::open(place);
    if (!there) return 3;
    auto producer = there->producer();
    if (!producer) return 4;
    for (std::uint64_t i = last[who] + 1;;) {
      if (push(*producer, who, i) == Push::pushed) acknowledged[who].store(i++);
    }
  };
  for (int kill = 0; kill < 40; ++kill) {
    Child first([&] { return produce(1); });
    Child second([&] { return produce(2); });
    const std::uint64_t rounds = random.below(3'000);
    for (std::uint64_t i = 0; i < rounds; ++i) ASSERT_TRUE(drain()) << kill;
    first.kill();
    ASSERT_EQ(first.join(), -SIGKILL);
    // The other goes on, whatever the first had claimed.
    const std::uint64_t before = last[2];
    ASSERT_TRUE(second.wait_until([&] { return !drain() || last[2] > before; })) << kill;
    second.kill();
    ASSERT_EQ(second.join(), -SIGKILL);
    for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(drain()) << kill;
    for (const std::size_t who : {1, 2}) {
      ASSERT_GE(last[who], acknowledged[who].load()) << "acknowledged and lost, kill " << kill;
      ASSERT_LE(last[who], acknowledged[who].load() + 1);
    }
  }
}

TEST_F(MultiQueueTest, DamagedWordsAreAnErrorAndWaitEnds) {
  for (const std::uint64_t word : {std::uint64_t{5} << 10, ~std::uint64_t{0}}) {
    MultiQueue queue = make(4);
    auto producer = queue.producer();
    auto consumer = queue.consumer();
    reinterpret_cast<std::atomic<std::uint64_t>*>(queue.segment().body().data() +
                                                  sizeof(MultiQueueShared))
        ->store(word);
    EXPECT_FALSE(consumer->peek());
    EXPECT_EQ(consumer->wait(Deadline::never(), clock_).error().code(), Errc::malformed);
    EXPECT_EQ(push(*producer, 1, 1), Push::damaged);
  }
  Layout layout = detail::multi_queue_layout(options(4));
  layout.geometry = {3, 40};
  EXPECT_EQ(MultiQueue::from(Segment::create(Place::heap(), layout)).error().code(),
            Errc::malformed);
}

}  // namespace
}  // namespace sennit::shm
