#include "sennit/runtime/sync/shared_mutex.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

using detail::LockWord;
using detail::WaitState;

SharedMutex::~SharedMutex() {
  SENNIT_ASSERT(queue_.empty() && "a SharedMutex is destroyed while somebody waits for it");
  SENNIT_ASSERT(word_.peek() == 0 && "a SharedMutex is destroyed while it is locked");
}

bool SharedMutex::try_lock_shared() {
  for (;;) {
    const Bits bits = word_.peek();
    if ((bits & (LockWord::locked | queued | writer)) != 0) return false;
    if (word_.try_change(bits, bits + reader)) return true;
  }
}

void SharedMutex::unlock_shared() {
  for (;;) {
    const Bits bits = word_.peek();
    if ((bits & (LockWord::locked | queued)) != 0) break;
    SENNIT_ASSERT(bits >= reader && "a SharedMutex is unlocked that nobody reads");
    if (word_.try_change(bits, bits - reader)) return;
  }
  const Bits bits = word_.lock();
  SENNIT_ASSERT(bits >= reader && "a SharedMutex is unlocked that nobody reads");
  serve(bits - reader);
}

void SharedMutex::unlock() {
  if (word_.try_change(writer, 0)) return;
  const Bits bits = word_.lock();
  SENNIT_ASSERT((bits & writer) != 0 && "a SharedMutex is unlocked that nobody writes");
  serve(bits - writer);
}

bool SharedMutex::enqueue(Lock::Node& node, Waiter& waiter) {
  const Bits bits = word_.lock();
  const bool is_free = node.is_shared ? (bits & writer) == 0 : bits == 0;
  if (queue_.empty() && is_free) {
    node.state = WaitState::granted;
    word_.unlock(bits + (node.is_shared ? reader : writer));
    return false;
  }
  queue_.push(node, waiter);
  word_.unlock(bits | queued);
  return true;
}

void SharedMutex::cancel(Lock::Node& node) {
  const Bits bits = word_.lock();
  const bool left = queue_.cancel(node);
  serve(bits);  // Readers behind a writer that left may go in.
  if (left) node.waiter->hand_over();
}

// With the lock: lets in from the front whoever may be in together, unlocks, and wakes them.
void SharedMutex::serve(Bits bits) {
  detail::WakeList woken;
  bits &= ~queued;
  while (!queue_.empty() && (bits & writer) == 0) {
    const bool is_shared = static_cast<Lock::Node&>(queue_.front()).is_shared;
    if (!is_shared && bits != 0) break;
    bits += is_shared ? reader : writer;
    woken.add(queue_.pop(WaitState::granted));
  }
  word_.unlock(bits | (queue_.empty() ? 0 : queued));
  woken.wake();
}

Result<SharedMutex::Guard> SharedMutex::Lock::take() {
  if (auto locked = detail::outcome(node_, "lock a shared mutex"); !locked) {
    return failure(std::move(locked).error());
  }
  return Guard(*mutex_, node_.is_shared);
}

void SharedMutex::Guard::unlock() {
  SharedMutex& mutex = *std::exchange(mutex_, nullptr);
  is_shared_ ? mutex.unlock_shared() : mutex.unlock();
}

}  // namespace sennit::runtime
