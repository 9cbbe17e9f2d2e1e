#include "sennit/runtime/sync/channel.hpp"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/sync/mutex.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using IntChannel = Channel<std::unique_ptr<int>>;
using SendStarted = testing::Started<IntChannel::Send>;
using ReceiveStarted = testing::Started<IntChannel::Receive>;

auto send_of(IntChannel& channel, int value) { return channel.send(std::make_unique<int>(value)); }
int receive_now(IntChannel& channel) {
  const auto message = channel.try_receive();
  return message ? **message : -1;
}

TEST(Channel, KeepsAsManyMessagesAsItHasRoomForInOrder) {
  IntChannel channel(2);
  EXPECT_EQ(channel.capacity(), 2U);
  SendStarted first(send_of(channel, 1)), second(send_of(channel, 2)), third(send_of(channel, 3)),
      fourth(send_of(channel, 4));
  EXPECT_FALSE(first.waits || second.waits);
  EXPECT_TRUE(third.waits && fourth.waits);
  EXPECT_EQ(receive_now(channel), 1);
  EXPECT_EQ(third.wakes(), 1) << "there is room again";
  EXPECT_EQ(fourth.wakes(), 0);
  for (const int expected : {2, 3, 4}) EXPECT_EQ(receive_now(channel), expected);
  EXPECT_EQ(fourth.wakes(), 1);
  EXPECT_TRUE(fourth.take().has_value());
  EXPECT_FALSE(channel.try_receive().has_value());
}

TEST(Channel, HandsOverWithoutABuffer) {
  IntChannel channel;
  SendStarted waiting_send(send_of(channel, 1));
  EXPECT_TRUE(waiting_send.waits);
  ReceiveStarted receive(channel.receive());
  EXPECT_FALSE(receive.waits);
  EXPECT_EQ(**receive.take(), 1);
  EXPECT_EQ(waiting_send.wakes(), 1);

  ReceiveStarted first(channel.receive()), second(channel.receive());
  EXPECT_TRUE(first.waits && second.waits);
  SendStarted send(send_of(channel, 2));
  EXPECT_FALSE(send.waits);
  EXPECT_TRUE(send.take().has_value());
  EXPECT_EQ(first.wakes(), 1);
  EXPECT_EQ(**first.take(), 2);
  EXPECT_EQ(second.wakes(), 0);
  EXPECT_TRUE(channel.try_send(std::make_unique<int>(3)));
  EXPECT_EQ(**second.take(), 3);
  EXPECT_EQ(second.wakes(), 1);
}

TEST(Channel, TryingNeverWaitsAndKeepsTheMessage) {
  IntChannel channel(1);
  auto message = std::make_unique<int>(1);
  EXPECT_TRUE(channel.try_send(std::move(message)));
  message = std::make_unique<int>(2);
  EXPECT_FALSE(channel.try_send(std::move(message)));
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(receive_now(channel), 1);
  channel.close();
  EXPECT_FALSE(channel.try_send(std::move(message)));
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(*message, 2);
}

TEST(Channel, ClosedGivesWhatItHasAndTakesNothing) {
  IntChannel channel(1);
  SendStarted kept(send_of(channel, 1)), waiting(send_of(channel, 2));
  EXPECT_FALSE(channel.is_closed());
  channel.close();
  channel.close();
  EXPECT_TRUE(channel.is_closed());
  EXPECT_EQ(waiting.wakes(), 1);
  EXPECT_EQ(waiting.take().error().code(), Errc::closed);
  EXPECT_EQ(*waiting.awaitable.message(), 2) << "who could not send it still has it";
  SendStarted later(send_of(channel, 3));
  EXPECT_FALSE(later.waits);
  EXPECT_EQ(later.take().error().code(), Errc::closed);
  ReceiveStarted left(channel.receive()), none(channel.receive());
  EXPECT_EQ(**left.take(), 1);
  EXPECT_FALSE(none.waits);
  EXPECT_EQ(none.take().error().code(), Errc::closed);
}

TEST(Channel, ClosingWakesWhoReceives) {
  IntChannel channel(1);
  ReceiveStarted first(channel.receive()), second(channel.receive());
  channel.close();
  for (ReceiveStarted* each : {&first, &second}) {
    EXPECT_EQ(each->wakes(), 1);
    EXPECT_EQ(each->take().error().code(), Errc::closed);
  }
}

TEST(Channel, CancelledReceiveBeforeAMessageTakesNone) {
  IntChannel channel;
  ReceiveStarted cancelled(channel.receive()), other(channel.receive());
  cancelled.cancel();
  cancelled.cancel();
  EXPECT_EQ(cancelled.wakes(), 1);
  EXPECT_EQ(cancelled.take().error().code(), Errc::cancelled);
  EXPECT_TRUE(channel.try_send(std::make_unique<int>(1)));
  EXPECT_EQ(**other.take(), 1);
}

TEST(Channel, CancelledReceiveAfterAMessageHasIt) {
  IntChannel channel;
  ReceiveStarted late(channel.receive());
  EXPECT_TRUE(channel.try_send(std::make_unique<int>(1)));
  late.cancel();
  EXPECT_EQ(late.wakes(), 1);
  EXPECT_EQ(**late.take(), 1);
}

TEST(Channel, CancelledSendBeforeItIsReceivedKeepsTheMessage) {
  for (const std::size_t capacity : {0U, 1U}) {
    IntChannel channel(capacity);
    if (capacity == 1) {
      EXPECT_TRUE(channel.try_send(std::make_unique<int>(1)));
    }
    SendStarted cancelled(send_of(channel, 2)), other(send_of(channel, 3));
    cancelled.cancel();
    EXPECT_EQ(cancelled.wakes(), 1);
    EXPECT_EQ(cancelled.take().error().code(), Errc::cancelled);
    EXPECT_EQ(*cancelled.awaitable.message(), 2);
    if (capacity == 1) {
      EXPECT_EQ(receive_now(channel), 1);
    }
    EXPECT_EQ(receive_now(channel), 3);
    EXPECT_EQ(other.wakes(), 1);
  }
}

TEST(Channel, CancelledSendAfterItIsReceivedSucceeds) {
  IntChannel channel;
  SendStarted late(send_of(channel, 1));
  EXPECT_EQ(receive_now(channel), 1);
  late.cancel();
  EXPECT_EQ(late.wakes(), 1);
  EXPECT_TRUE(late.take().has_value());
}

TEST(ChannelDeathTest, StopsWhenItIsDestroyedWhileSomebodyWaits) {
  const auto destroy_awaited = [] {
    auto awaited = std::make_unique<IntChannel>(1U);
    ReceiveStarted receive(awaited->receive());
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits for it");
}

class ChannelAcross : public testing::BackendTest {};

// Every message that a sender was told is sent arrives once, and none that it was told is not; each
// sender's in its order.
TEST_P(ChannelAcross, LosesAndDoublesNoMessageBetweenKindsAndWorkers) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const int rounds = testing::scaled(1500);
  constexpr std::size_t members = 5;
  for (const std::size_t capacity : {0U, 1U, 7U}) {
    SCOPED_TRACE(::testing::Message() << "capacity " << capacity);
    Channel<std::pair<std::size_t, int>> channel(capacity);
    std::vector<std::vector<int>> sent(members), received(members);
    Mutex mutex;  // Guards `received`.
    std::atomic<std::size_t> number = 0, receivers = 0, open_senders = members;
    testing::Parties parties(runtime());
    parties.add_all([&](auto as) -> decltype(as) {
      const std::size_t mine = number++;
      Random random(seed + mine);
      for (int i = 0; i < rounds; ++i) {
        const auto spins = static_cast<unsigned>(random.below(300));
        const std::pair message(mine, i);
        const bool cancels = random.below(4) == 0;
        bool is_sent = false;
        if (cancels) {
          is_sent = testing::succeeded(co_await testing::CancelSoon(channel.send(message), spins));
        } else {
          is_sent = testing::succeeded(co_await channel.send(message));
        }
        if (is_sent) sent[mine].push_back(i);
      }
      if (--open_senders == 0) channel.close();
    });
    parties.add_all([&](auto as) -> decltype(as) {
      Random random(seed + 100 + ++receivers);
      for (;;) {
        const auto spins = static_cast<unsigned>(random.below(300));
        const bool cancels = random.below(4) == 0;
        Result<std::pair<std::size_t, int>> message = failure(Errc::cancelled);
        if (cancels) {
          message = co_await testing::CancelSoon(channel.receive(), spins);
        } else {
          message = co_await channel.receive();
        }
        if (message) {
          auto guard = co_await mutex.lock();
          received[message->first].push_back(message->second);
        } else if (message.error().code() == Errc::closed) {
          break;
        }
      }
    });
    parties.join();
    for (std::size_t i = 0; i < members; ++i) {
      std::sort(received[i].begin(), received[i].end());
      EXPECT_EQ(received[i], sent[i]);
    }
  }
}

TEST_P(ChannelAcross, KeepsTheOrderOfOneSenderForOneReceiver) {
  const int rounds = testing::scaled(3000);
  for (const auto from : testing::party_kinds) {
    for (const auto to : testing::party_kinds) {
      Channel<int> channel(2);
      testing::Parties parties(runtime());
      parties.add(from, 0, [&](auto as) -> decltype(as) {
        for (int i = 0; i < rounds; ++i) EXPECT_TRUE(testing::succeeded(co_await channel.send(i)));
        channel.close();
      });
      parties.add(to, 1, [&](auto as) -> decltype(as) {
        for (int i = 0; i < rounds; ++i) {
          const auto message = co_await channel.receive();
          EXPECT_EQ(message.value_or(-1), i);
        }
        EXPECT_FALSE(testing::succeeded(co_await channel.receive()));
      });
    }
  }
}

SENNIT_FOR_EACH_BACKEND(ChannelAcross);

}  // namespace
}  // namespace sennit::runtime
