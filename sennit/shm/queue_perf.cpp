#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>

#include "sennit/perftest/rounds.hpp"
#include "sennit/shm/broadcast.hpp"
#include "sennit/shm/queue.hpp"

#if __has_include(<boost/lockfree/spsc_queue.hpp>)
#include <boost/lockfree/spsc_queue.hpp>
#define SENNIT_HAS_BOOST_LOCKFREE
#endif

namespace sennit::shm {
namespace {

void queue_perf_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/// A second thread, on the second CPU, that does what it is told to and is waited for. The caches
/// do not know whether two CPUs run two threads or two processes.
class OtherSide {
 public:
  OtherSide() : thread_([this] { run(); }) { queue_perf_pin(0); }
  ~OtherSide() {
    turn_.store(end);
    thread_.join();
  }
  /// Runs `here` and `there` at once, and returns when both have ended.
  template <class Here>
  void together(std::function<void()> there, Here here) {
    job_ = std::move(there);
    turn_.store(work);
    here();
    while (turn_.load() != idle) {
    }
  }

 private:
  enum Turn { idle, work, end };
  void run() {
    queue_perf_pin(1);
    for (;;) {
      const Turn turn = turn_.load();
      if (turn == end) return;
      if (turn == idle) continue;
      job_();
      turn_.store(idle);
    }
  }
  std::function<void()> job_;
  std::atomic<Turn> turn_ = idle;
  std::thread thread_;
};

template <std::size_t bytes>
struct QueueUnderTest {
  using Message = std::array<std::byte, bytes>;

  QueueUnderTest() {
    QueueOptions options;
    options.capacity_bytes = 1024 * (bytes + 8);
    options.message_bytes_max = bytes;
    queue = std::make_unique<Queue>(std::move(*Queue::create(Place::anonymous(), options)));
    producer = std::make_unique<Queue::Producer>(std::move(*queue->producer()));
    consumer = std::make_unique<Queue::Consumer>(std::move(*queue->consumer()));
  }
  void produce(std::uint64_t times) {
    const Message message{};
    for (std::uint64_t i = 0; i < times; ++i) {
      while (producer->push(message) != Push::pushed) {
      }
    }
  }
  void produce_batches(std::uint64_t times) {
    const Message message{};
    for (std::uint64_t i = 1; i <= times; ++i) {
      while (producer->stage(message) != Push::pushed) producer->flush();
      if (i % 16 == 0) producer->flush();
    }
    producer->flush();
  }
  void consume(std::uint64_t times, std::uint64_t batch) {
    Message message;
    for (std::uint64_t i = 0; i < times;) {
      const auto got = consumer->peek();
      if (!got) continue;
      std::memcpy(message.data(), got->data(), bytes);
      perftest::do_not_optimize(message);
      consumer->advance();
      if (++i % batch == 0 || i == times) consumer->publish();
    }
  }
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Queue::Producer> producer;
  std::unique_ptr<Queue::Consumer> consumer;
};

template <std::size_t bytes>
void queue_beside_boost() {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two CPUs";
  OtherSide other;
  QueueUnderTest<bytes> ours;
  perftest::Rounds rounds;
#ifdef SENNIT_HAS_BOOST_LOCKFREE
  using Message = std::array<std::byte, bytes>;
  auto peer =
      std::make_unique<boost::lockfree::spsc_queue<Message, boost::lockfree::capacity<1024>>>();
  rounds.add("boost_spsc", [&](std::uint64_t times) {
    other.together(
        [&, times] {
          Message message;
          for (std::uint64_t i = 0; i < times;) {
            if (!peer->pop(message)) continue;
            perftest::do_not_optimize(message);
            ++i;
          }
        },
        [&] {
          const Message message{};
          for (std::uint64_t i = 0; i < times; ++i) {
            while (!peer->push(message)) {
            }
          }
        });
  });
#endif
  rounds.add("queue", [&](std::uint64_t times) {
    other.together([&, times] { ours.consume(times, 1); }, [&] { ours.produce(times); });
  });
  rounds.add("queue_batched_by_16", [&](std::uint64_t times) {
    other.together([&, times] { ours.consume(times, 16); }, [&] { ours.produce_batches(times); });
  });
  rounds.run();
}

TEST(QueuePerf, Messages8Bytes) { queue_beside_boost<8>(); }
TEST(QueuePerf, Messages64Bytes) { queue_beside_boost<64>(); }
TEST(QueuePerf, Messages1024Bytes) { queue_beside_boost<1024>(); }

TEST(QueuePerf, RoundTrip8Bytes) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two CPUs";
  OtherSide other;
  QueueUnderTest<8> there, back;
  perftest::Rounds rounds;
  std::atomic<std::uint64_t> ping = 0;
  alignas(128) std::atomic<std::uint64_t> pong = 0;
  std::uint64_t base = 0;
  // The floor: one cache line each way.
  rounds.add("two_lines", [&](std::uint64_t times) {
    const std::uint64_t from = base;
    base += times;
    other.together(
        [&, from, times] {
          for (std::uint64_t i = 1; i <= times; ++i) {
            while (ping.load() != from + i) {
            }
            pong.store(from + i);
          }
        },
        [&] {
          for (std::uint64_t i = 1; i <= times; ++i) {
            ping.store(from + i);
            while (pong.load() != from + i) {
            }
          }
        });
  });
  rounds.add("queue", [&](std::uint64_t times) {
    other.together(
        [&, times] {
          for (std::uint64_t i = 0; i < times; ++i) {
            there.consume(1, 1);
            back.produce(1);
          }
        },
        [&] {
          for (std::uint64_t i = 0; i < times; ++i) {
            there.produce(1);
            back.consume(1, 1);
          }
        });
  });
  rounds.run();
}

TEST(BroadcastPerf, PushAndRead64Bytes) {
  BroadcastOptions options;
  options.slot_count = 1024;
  options.message_bytes_max = 64;
  auto feed = Broadcast::create(Place::anonymous(), options);
  ASSERT_TRUE(feed);
  auto writer = feed->writer();
  ASSERT_TRUE(writer);
  std::array<std::byte, 64> message{};
  std::array<std::byte, 64 * 1024> plain{};
  for (int i = 0; i < 1024; ++i) static_cast<void>(writer->push(message));
  auto reader = feed->reader_from_oldest();
  const std::uint64_t oldest = reader.position();
  std::uint64_t at = 0;
  perftest::Rounds rounds;
  rounds.add("memcpy", [&] {
    std::memcpy(plain.data() + (++at % 1024) * 64, message.data(), 64);
    perftest::do_not_optimize(plain);
  });
  rounds.add("read", [&] {
    if (reader.position() == writer->head()) reader.seek(oldest + writer->head() - 1024);
    const auto read = reader.read(message);
    perftest::do_not_optimize(read);
  });
  rounds.add("push", [&] { perftest::do_not_optimize(writer->push(message)); });
  rounds.run();
}

}  // namespace
}  // namespace sennit::shm
