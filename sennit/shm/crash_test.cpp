// What survives kill -9 at any moment. SENNIT_KILLS sets how often each test kills (10,000 in long
// runs); every message carries its number and is checked whole.

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/shm/broadcast.hpp"
#include "sennit/shm/queue.hpp"
#include "sennit/shm/testing/child.hpp"
#include "sennit/shm/testing/places.hpp"

namespace sennit::shm {
namespace {

using testing::Child;

class CrashTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t bytes_max = 120;

  static int kills() {
    int count = 60;
    if (const char* const text = std::getenv("SENNIT_KILLS"); text != nullptr) {
      const std::string_view given = text;
      std::from_chars(given.data(), given.data() + given.size(), count);
    }
    return count;
  }
  static std::span<const std::byte> message(std::uint64_t number, std::vector<std::byte>& into) {
    into.resize(8 + number % (bytes_max - 8));
    for (std::size_t i = 8; i < into.size(); ++i) {
      into[i] = static_cast<std::byte>((number * 131 + i * 7) & 0xff);
    }
    std::memcpy(into.data(), &number, 8);
    return into;
  }
  /// The number of a message that is whole; ~0 for one that is not.
  std::uint64_t number_of(std::span<const std::byte> bytes) {
    std::uint64_t number = ~std::uint64_t{0};
    if (bytes.size() >= 8) std::memcpy(&number, bytes.data(), 8);
    if (number != ~std::uint64_t{0} && !std::ranges::equal(bytes, message(number, expected_))) {
      number = ~std::uint64_t{0};
    }
    return number;
  }
  /// Words shared with the children, outside of what is tested.
  std::atomic<std::uint64_t>& shared(std::size_t index) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(control_.body().data())[index];
  }

  testing::Places places_;
  Random random_{20'240'601};
  std::vector<std::byte> expected_;
  const Segment control_ = [] {
    Layout layout;
    layout.body_bytes = 64;
    return std::move(*Segment::create(Place::anonymous(), layout));
  }();
};

TEST_F(CrashTest, AKilledProducerLosesNothingAcknowledged) {
  const Place place = places_.posix();
  QueueOptions options;
  options.capacity_bytes = 2048;
  options.message_bytes_max = bytes_max;
  auto queue = Queue::create(place, options);
  ASSERT_TRUE(queue) << queue.error().to_string();
  auto consumer = queue->consumer();
  ASSERT_TRUE(consumer);
  std::uint64_t next = 0;
  const auto drain = [&] {
    while (const auto got = consumer->peek()) {
      if (number_of(*got) != next) return false;
      ++next;
      consumer->release();
    }
    return !consumer->is_damaged();
  };
  const int count = kills();
  for (int kill = 0; kill < count; ++kill) {
    Child writer([&] {
      auto there = Queue::open(place);
      if (!there) return 3;
      auto producer = there->producer();
      if (!producer) return 4;
      std::vector<std::byte> bytes;
      for (std::uint64_t i = next;;) {
        if (producer->push(message(i, bytes)) == Push::pushed) shared(0).store(++i);
      }
    });
    // The first is let run until it has done something, whatever the machine; the others not.
    const std::uint64_t rounds = random_.below(20'000);
    const auto has_run = [&] { return shared(0).load() >= 100; };
    if (kill == 0) {
      ASSERT_TRUE(writer.wait_until([&] { return drain() && has_run(); }));
    }
    for (std::uint64_t i = 0; i < rounds; ++i) ASSERT_TRUE(drain()) << kill;
    writer.kill();
    ASSERT_EQ(writer.join(), -SIGKILL) << "it could not attach, kill " << kill;
    ASSERT_TRUE(drain()) << kill << " at " << next;
    ASSERT_GE(next, shared(0).load()) << "acknowledged and lost";
    ASSERT_LE(next, shared(0).load() + 1);
    shared(0).store(next);
  }
  EXPECT_TRUE(queue->producer()->recovery().took_over);
}

TEST_F(CrashTest, AKilledConsumerIsGivenAgainOnlyWhatItHadNotReleased) {
  const Place place = places_.posix();
  QueueOptions options;
  options.capacity_bytes = 2048;
  options.message_bytes_max = bytes_max;
  auto queue = Queue::create(place, options);
  ASSERT_TRUE(queue);
  auto producer = queue->producer();
  std::vector<std::byte> bytes;
  std::uint64_t next = 0;
  const int count = kills();
  for (int kill = 0; kill < count; ++kill) {
    Child reader([&] {
      auto there = Queue::open(place);
      if (!there) return 3;
      auto consumer = there->consumer();
      if (!consumer) return 4;
      for (bool is_first = true;;) {
        const auto got = consumer->peek();
        if (!got && consumer->is_damaged()) return 5;
        if (!got) continue;
        const std::uint64_t number = number_of(*got);
        const std::uint64_t expected = shared(0).load();
        if (number != expected && !(is_first && number + 1 == expected)) return 6;
        is_first = false;
        shared(0).store(number + 1);
        consumer->release();
      }
    });
    const auto feed = [&] {
      for (int i = 0; i < 10; ++i) {
        if (producer->push(message(next, bytes)) == Push::pushed) ++next;
      }
      return shared(0).load() > 100;
    };
    if (kill == 0) {
      ASSERT_TRUE(reader.wait_until(feed));
    }
    const std::uint64_t rounds = random_.below(2'000);
    for (std::uint64_t i = 0; i < rounds; ++i) static_cast<void>(feed());
    reader.kill();
    ASSERT_EQ(reader.join(), -SIGKILL) << "kill " << kill;
  }
}

TEST_F(CrashTest, ReadersOfABroadcastSeeNothingTornWhenItsWriterIsKilled) {
  const Place place = places_.posix();
  BroadcastOptions options;
  options.slot_count = 8;
  options.message_bytes_max = bytes_max;
  auto feed = Broadcast::create(place, options);
  ASSERT_TRUE(feed);
  auto reader = feed->reader_from_oldest();
  std::vector<std::byte> buffer(bytes_max);
  std::uint64_t next = 0;
  const auto read_one = [&] {
    using What = BroadcastRead::What;
    const auto read = reader.read(buffer);
    if (read.what == What::lost) next += read.lost;
    if (read.what == What::none || read.what == What::lost) return true;
    if (read.what != What::message || read.sequence != next) return false;
    return number_of(std::span(buffer).first(read.bytes)) == next++;
  };
  const int count = kills();
  for (int kill = 0; kill < count; ++kill) {
    Child writes([&] {
      auto there = Broadcast::open(place, Access::read_write);
      if (!there) return 3;
      auto writer = there->writer();
      if (!writer) return 4;
      std::vector<std::byte> bytes;
      for (;;) {
        const std::uint64_t number = writer->head();
        if (!writer->push(message(number, bytes), number)) return 5;
        shared(0).store(number + 1);
      }
    });
    if (kill == 0) {
      ASSERT_TRUE(writes.wait_until([&] { return shared(0).load() > 100; }));
    }
    const std::uint64_t rounds = random_.below(20'000);
    for (std::uint64_t i = 0; i < rounds; ++i) ASSERT_TRUE(read_one()) << kill << " at " << next;
    writes.kill();
    ASSERT_EQ(writes.join(), -SIGKILL) << "kill " << kill;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(read_one()) << kill << " at " << next;
    ASSERT_GE(next, shared(0).load()) << "acknowledged and lost, kill " << kill;
    ASSERT_LE(next, shared(0).load() + 1);
  }
}

TEST_F(CrashTest, AQueueWithAnyByteFlippedIsAnErrorOrAQueue) {
  QueueOptions options;
  options.capacity_bytes = 256;
  options.message_bytes_max = 100;
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < header_bytes + sizeof(QueueShared) + 256; ++at) {
    const Place place = Place::heap();
    auto queue = Queue::create(place, options);
    ASSERT_TRUE(queue);
    {
      auto producer = queue->producer();
      for (std::uint64_t i = 0; i < 5; ++i) static_cast<void>(producer->push(message(i, bytes)));
    }
    auto* const byte = reinterpret_cast<std::byte*>(&queue->segment().header()) + at;
    *byte ^= std::byte{0xff};
    if (!queue->segment().refresh()) continue;
    auto producer = queue->producer();
    auto consumer = queue->consumer();
    if (!producer || !consumer) continue;
    std::size_t sum = 0;
    for (int i = 0; i < 20; ++i) {
      static_cast<void>(producer->push(message(100, bytes)));
      if (const auto got = consumer->peek()) {
        for (const std::byte b : *got) sum += static_cast<std::size_t>(b);
        consumer->release();
      }
    }
    EXPECT_GE(sum, 0u);
  }
}

TEST_F(CrashTest, AFileCutOffAtAnyLengthIsRefused) {
  const Place place = places_.file();
  QueueOptions options;
  options.capacity_bytes = 256;
  options.message_bytes_max = 100;
  const std::uint64_t whole = header_bytes + sizeof(QueueShared) + 256;
  {
    auto queue = Queue::create(place, options);
    ASSERT_TRUE(queue);
  }
  for (std::uint64_t bytes = whole; bytes-- > 0;) {
    ASSERT_EQ(::truncate(place.name.c_str(), static_cast<off_t>(bytes)), 0);
    const auto there = Segment::open(place, Access::read_write, Duration::zero());
    ASSERT_FALSE(there) << bytes;
    ASSERT_EQ(there.error().code(), bytes == 0 ? Errc::timed_out : Errc::malformed) << bytes;
  }
}

}  // namespace
}  // namespace sennit::shm
