#include "sennit/shm/queue.hpp"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/shm/testing/places.hpp"
#include "sennit/shm/testing/stop_writer.hpp"

namespace sennit::shm {
namespace {

using testing::StopWriter;
using HookedQueue = BasicQueue<HookedStore>;

class QueueTest : public ::testing::Test {
 protected:
  /// A message that says its number and can be checked whole.
  static std::vector<std::byte> message(std::uint64_t number, std::size_t bytes) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      made[i] = static_cast<std::byte>((number * 31 + i * 7 + 1) & 0xff);
    }
    return made;
  }
  static bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
    return std::ranges::equal(a, b);
  }
  static QueueOptions options(std::uint64_t capacity, std::uint32_t message_max) {
    QueueOptions made;
    made.capacity_bytes = capacity;
    made.message_bytes_max = message_max;
    return made;
  }
  template <class Q = Queue>
  static Q make(std::uint64_t capacity, std::uint32_t message_max) {
    auto made = Q::create(Place::heap(), options(capacity, message_max));
    EXPECT_TRUE(made) << made.error().to_string();
    return std::move(*made);
  }
  const RealClock clock_;
  testing::Places places_;
};

TEST_F(QueueTest, DeliversEveryMessageOnceAndInOrder) {
  Queue queue = make(1024, 200);
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  ASSERT_TRUE(producer && consumer);
  Random random(1);
  std::deque<std::vector<std::byte>> expected;
  std::uint64_t number = 0;
  for (int step = 0; step < 50'000; ++step) {
    if (random.below(2) == 0) {
      auto bytes = message(number, random.below(201));
      if (producer->push(bytes) == Push::pushed) {
        expected.push_back(std::move(bytes));
        ++number;
      }
    } else if (const auto got = consumer->peek()) {
      ASSERT_FALSE(expected.empty());
      ASSERT_TRUE(equal(*got, expected.front()));
      consumer->release();
      expected.pop_front();
    } else {
      ASSERT_TRUE(expected.empty());
    }
  }
  EXPECT_GT(number, 10'000u);
}

TEST_F(QueueTest, AMessageThatFitsAnEmptyQueueFitsWhereverItsHeadIs) {
  for (std::size_t step = 0; step <= 256; step += 8) {
    Queue queue = make(64, 248);
    auto producer = queue.producer();
    auto consumer = queue.consumer();
    for (int round = 0; round < 100; ++round) {
      const auto small = message(1, step % 256 > 248 ? 248 : step % 256);
      const auto large = message(2, 248);
      for (const auto& bytes : {small, large}) {
        ASSERT_EQ(producer->push(bytes), Push::pushed) << step << " " << round;
        const auto got = consumer->peek();
        ASSERT_TRUE(got && equal(*got, bytes));
        consumer->release();
      }
    }
  }
}

TEST_F(QueueTest, SaysWhetherAMessageIsTooLargeOrTheQueueIsFull) {
  Queue queue = make(256, 64);
  auto producer = queue.producer();
  EXPECT_EQ(producer->push(message(1, 65)), Push::too_large);
  int pushed = 0;
  while (producer->push(message(1, 24)) == Push::pushed) ++pushed;
  EXPECT_EQ(pushed, 7);  // 32 bytes each, and 8 for the end.
  EXPECT_EQ(producer->why_not(24), Push::full);
  EXPECT_EQ(producer->wait_for_space(65, Deadline::never(), clock_).error().code(),
            Errc::invalid_argument);
  EXPECT_EQ(producer->wait_for_space(24, Deadline::at(TimePoint()), clock_).error().code(),
            Errc::timed_out);
}

TEST_F(QueueTest, ABatchAppearsAtOnceAndItsSpaceIsGivenBackAtOnce) {
  Queue queue = make(1024, 64);
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_EQ(producer->stage(message(i, 10)), Push::pushed);
    EXPECT_FALSE(consumer->peek());
  }
  producer->flush();
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto got = consumer->peek();
    ASSERT_TRUE(got && equal(*got, message(i, 10)));
    consumer->advance();
  }
  EXPECT_FALSE(consumer->peek());
  EXPECT_EQ(queue.shape().shared->consumed.load(), 0u);
  consumer->publish();
  EXPECT_EQ(queue.shape().shared->consumed.load(), 5u * 24);
}

TEST_F(QueueTest, AReservationIsWrittenInPlaceAndMayBeCommittedShorter) {
  Queue queue = make(256, 100);
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_NE(producer->reserve(100), nullptr) << "forgotten";
    std::byte* const room = producer->reserve(90);
    ASSERT_NE(room, nullptr);
    const auto bytes = message(i, i);
    std::ranges::copy(bytes, room);
    producer->commit(static_cast<std::uint32_t>(i));
    const auto got = consumer->peek();
    ASSERT_TRUE(got && equal(*got, bytes));
    EXPECT_EQ(static_cast<const void*>(got->data()), room);
    consumer->release();
  }
}

TEST_F(QueueTest, ASecondProducerOrConsumerIsRefused) {
  Queue queue = make(256, 64);
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  EXPECT_EQ(queue.producer().error().code(), Errc::already_exists);
  EXPECT_EQ(queue.consumer().error().code(), Errc::already_exists);
}

TEST_F(QueueTest, ThreadsPassMessagesAndWaitForEachOther) {
  Queue queue = make(2048, 256);
  constexpr std::uint64_t count = 100'000;
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  const Deadline deadline = Deadline::after(std::chrono::seconds(100), clock_);
  std::thread writes([&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto bytes = message(i, i % 200);
      while (producer->push(bytes) == Push::full) {
        if (!producer->wait_for_space(bytes.size(), deadline, clock_)) return;
      }
    }
  });
  std::uint64_t got_count = 0;
  for (; got_count < count; ++got_count) {
    if (!consumer->wait(deadline, clock_)) break;
    const auto got = consumer->peek();
    if (!got || !equal(*got, message(got_count, got_count % 200))) break;
    consumer->release();
  }
  writes.join();
  EXPECT_EQ(got_count, count);
}

TEST_F(QueueTest, AStoppedProducerLosesNothingAcknowledgedAndShowsNothingTorn) {
  int stops = 0;
  for (;; ++stops) {
    HookedQueue queue = make<HookedQueue>(256, 100);
    std::uint64_t acknowledged = 0;
    const bool stopped = StopWriter::stops_at(stops, [&] {
      auto producer = queue.producer();
      auto consumer = queue.consumer();
      for (std::uint64_t i = 0; i < 8; ++i) {
        if (producer->push(message(i, 1 + 20 * (i % 5))) != Push::pushed) return;
        ++acknowledged;
        if (i % 3 == 2) {
          for (; consumer->peek();) consumer->release();
        }
      }
      for (std::uint64_t i = 8; i < 11; ++i) static_cast<void>(producer->stage(message(i, 16)));
      producer->flush();
      acknowledged += 3;
    });
    StopWriter::kill_owners(queue.segment());
    auto producer = queue.producer();
    auto consumer = queue.consumer();
    ASSERT_TRUE(producer && consumer) << stops << producer.error().to_string();
    std::uint64_t seen = 0;
    std::uint64_t next = ~std::uint64_t{0};
    for (; auto got = consumer->peek(); ++seen) {
      const auto is = [&](std::uint64_t i) {
        return equal(*got, message(i, i < 8 ? 1 + 20 * (i % 5) : 16));
      };
      if (next == ~std::uint64_t{0}) {
        for (next = 0; next < 11 && !is(next);) ++next;
      }
      ASSERT_TRUE(next < 11 && is(next)) << stops << " " << next;
      ++next;
      consumer->release();
    }
    ASSERT_FALSE(consumer->is_damaged()) << stops;
    EXPECT_EQ(producer->recovery().kept, seen);
    if (seen > 0) {
      // All that was acknowledged, and at most what was under way.
      EXPECT_GE(next, acknowledged) << stops;
      EXPECT_LE(next, acknowledged + (acknowledged < 8 ? 1 : 3)) << stops;
    }
    // It goes on.
    ASSERT_EQ(producer->push(message(99, 100)), Push::pushed) << stops;
    const auto got = consumer->peek();
    ASSERT_TRUE(got && equal(*got, message(99, 100))) << stops;
    if (!stopped) break;
  }
  EXPECT_GT(stops, 40);
}

TEST_F(QueueTest, ANewConsumerGetsAgainWhatWasPeekedAtButNotReleased) {
  Queue queue = make(256, 64);
  auto producer = queue.producer();
  ASSERT_EQ(producer->push(message(1, 8)), Push::pushed);
  {
    auto consumer = queue.consumer();
    EXPECT_TRUE(consumer->peek());
  }
  auto consumer = queue.consumer();
  EXPECT_FALSE(consumer->recovery().took_over);
  EXPECT_EQ(consumer->recovery().kept, 1u);
  const auto got = consumer->peek();
  ASSERT_TRUE(got && equal(*got, message(1, 8)));
}

TEST_F(QueueTest, ADamagedQueueIsAnErrorAndItsWaitEnds) {
  for (const std::uint64_t word : {std::uint64_t{1} << 32, std::uint64_t{1000}, ~std::uint64_t{0},
                                   std::uint64_t{0xffffffff}}) {
    Queue queue = make(256, 64);
    auto consumer = queue.consumer();
    queue.shape().header(0).store(word);
    EXPECT_FALSE(consumer->peek());
    EXPECT_TRUE(consumer->is_damaged());
    EXPECT_EQ(consumer->wait(Deadline::never(), clock_).error().code(), Errc::malformed);
    EXPECT_EQ(queue.producer().error().code(), Errc::malformed);
  }
  Queue queue = make(256, 64);
  auto producer = queue.producer();
  queue.shape().shared->consumed.store(1 << 20);
  EXPECT_EQ(producer->push(message(1, 8)), Push::damaged);
  EXPECT_EQ(producer->wait_for_space(8, Deadline::never(), clock_).error().code(), Errc::malformed);
}

TEST_F(QueueTest, RefusesAGeometryThatTheBodyDoesNotHold) {
  EXPECT_FALSE(Queue::create(Place::heap(), options(~std::uint64_t{0}, 8)));
  EXPECT_FALSE(Queue::create(Place::heap(), options(64, 0xffff'ffff)));
  for (const Geometry& geometry :
       {Geometry{0, 8}, Geometry{96, 8}, Geometry{256, 8}, Geometry{128, 100}, Geometry{128, 8, 1},
        Geometry{std::uint64_t{1} << 63, 8}}) {
    Layout layout = detail::queue_layout(options(128, 8));
    layout.geometry = geometry;
    EXPECT_EQ(Queue::from(Segment::create(Place::heap(), layout)).error().code(), Errc::malformed);
  }
}

}  // namespace
}  // namespace sennit::shm
