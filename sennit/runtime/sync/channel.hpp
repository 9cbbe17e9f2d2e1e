#pragma once
// Channel<T>: a bounded queue of messages between fibers, coroutines and plain threads.
//
//   Channel<Request> requests(16);
//   if (!wait(requests.send(request))) ...                    // closed, or cancelled
//   while (auto request = wait(requests.receive())) ...        // until closed and empty
//
// With capacity 0 a sender waits until a receiver takes its message. Messages come out in the order
// of sending, and who waits is served first come, first served, message by message from hand to
// hand. After close() nothing more can be sent, and what is in the channel can still be received.
//
// Several sides at once: when_any(channel.receive(), other.send(x), sleep_for(1s)), see when.hpp.
//
// No message is lost: a receive that was cancelled has taken none, or it succeeds; a send that
// failed still has its message (Send::message). A receiver that has been given a message and drops
// the result drops the message.
//
// Thread safety: all of it. T moves without throwing, and its move must not use the channel.
// Destroying a Channel that somebody waits for stops the program.

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/ring.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

template <class T>
class Channel {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  struct Sending : detail::WaitNode {
    T* message = nullptr;  // Where it is to be moved from.
  };
  struct Receiving : detail::WaitNode {
    std::optional<T> message;
  };

 public:
  /// Room for `capacity` messages is allocated at once.
  explicit Channel(std::size_t capacity = 0) : buffer_(capacity) {}
  ~Channel() {
    SENNIT_ASSERT(senders_.empty() && receivers_.empty() &&
                  "a Channel is destroyed while somebody waits for it");
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Awaitable: Result<void>. Suspends until there is room, or a receiver. Errors: closed;
  /// cancelled. Then nobody has received the message, and nobody will.
  class Send {
   public:
    static constexpr const char* waits_for = "room in a channel";

    Send(Channel& channel, T&& message) : channel_(&channel), message_(std::move(message)) {}
    bool ready() { return false; }
    bool start(Waiter& waiter) {
      node_.message = &message_;
      return channel_->start_send(node_, &waiter);
    }
    Result<void> take() { return detail::outcome(node_, "send to a channel"); }
    void cancel() { channel_->cancel(channel_->senders_, node_); }
    /// The message again, when it could not be sent.
    [[nodiscard]] T& message() { return message_; }

   private:
    Channel* channel_;
    T message_;
    Sending node_;
  };
  [[nodiscard]] Send send(T message) { return Send(*this, std::move(message)); }

  /// Awaitable: Result<T>. Suspends until there is a message. Errors: closed, when it is empty too;
  /// cancelled, without having taken a message.
  class Receive {
   public:
    static constexpr const char* waits_for = "a message of a channel";

    explicit Receive(Channel& channel) : channel_(&channel) {}
    bool ready() { return false; }
    bool start(Waiter& waiter) { return channel_->start_receive(node_, &waiter); }
    Result<T> take() {
      if (node_.message.has_value()) return *std::move(node_.message);
      return failure(detail::outcome(node_, "receive from a channel").error());
    }
    void cancel() { channel_->cancel(channel_->receivers_, node_); }

   private:
    Channel* channel_;
    Receiving node_;
  };
  [[nodiscard]] Receive receive() { return Receive(*this); }

  /// False if it would have to wait, or the channel is closed; `message` then is as it was.
  [[nodiscard]] bool try_send(T&& message) {
    Sending node;
    node.message = &message;
    return !start_send(node, nullptr) && node.state == detail::WaitState::granted;
  }
  /// Nothing if it would have to wait, or the channel is closed and empty.
  [[nodiscard]] std::optional<T> try_receive() {
    Receiving node;
    (void)start_receive(node, nullptr);
    return std::move(node.message);
  }

  /// Whoever waits to send or to receive gets `closed`. Closing again changes nothing.
  void close() {
    detail::WakeList woken;
    (void)word_.lock();
    woken.move_all(receivers_, detail::WaitState::closed);
    woken.move_all(senders_, detail::WaitState::closed);
    word_.unlock(closed);
    woken.wake();
  }
  [[nodiscard]] bool is_closed() const { return (word_.peek() & closed) != 0; }
  [[nodiscard]] std::size_t capacity() const { return buffer_.capacity(); }

 private:
  // The lock guards the queues and the buffer. Receivers wait only while there is neither a message
  // nor a sender, senders only while the buffer is full and there is no receiver.
  static constexpr detail::LockWord::Bits closed = 2;

  // True if it waits from now on. Without a waiter it does not, and stays idle.
  bool start_send(Sending& node, Waiter* waiter);
  bool start_receive(Receiving& node, Waiter* waiter);
  void cancel(detail::WaitList& queue, detail::WaitNode& node) {
    const auto bits = word_.lock();
    const bool left = queue.cancel(node);
    word_.unlock(bits);
    if (left) node.waiter->hand_over();
  }

  detail::LockWord word_;
  detail::WaitList senders_;
  detail::WaitList receivers_;
  detail::Ring<T> buffer_;
};

template <class T>
bool Channel<T>::start_send(Sending& node, Waiter* waiter) {
  const auto bits = word_.lock();
  if (!receivers_.empty()) {
    auto& receiver = static_cast<Receiving&>(receivers_.pop(detail::WaitState::granted));
    receiver.message.emplace(std::move(*node.message));
    node.state = detail::WaitState::granted;
    word_.unlock(bits);
    receiver.waiter->hand_over();
    return false;
  }
  bool waits = false;
  if ((bits & closed) != 0) {
    node.state = detail::WaitState::closed;
  } else if (!buffer_.full()) {
    buffer_.push(std::move(*node.message));
    node.state = detail::WaitState::granted;
  } else if (waiter != nullptr) {
    senders_.push(node, *waiter);
    waits = true;
  }
  word_.unlock(bits);
  return waits;
}

template <class T>
bool Channel<T>::start_receive(Receiving& node, Waiter* waiter) {
  const auto bits = word_.lock();
  Sending* const sender =
      senders_.empty() ? nullptr : &static_cast<Sending&>(senders_.pop(detail::WaitState::granted));
  bool waits = false;
  if (!buffer_.empty()) {
    node.message.emplace(buffer_.pop());
    if (sender != nullptr) buffer_.push(std::move(*sender->message));
  } else if (sender != nullptr) {
    node.message.emplace(std::move(*sender->message));
  } else if ((bits & closed) != 0) {
    node.state = detail::WaitState::closed;
  } else if (waiter != nullptr) {
    receivers_.push(node, *waiter);
    waits = true;
  }
  if (node.message.has_value()) node.state = detail::WaitState::granted;
  word_.unlock(bits);
  if (sender != nullptr) sender->waiter->hand_over();
  return waits;
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::Channel;
}
