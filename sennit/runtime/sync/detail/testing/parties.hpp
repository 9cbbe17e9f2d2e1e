#pragma once
// Parties: a test body that is written once, and run by fibers, coroutines and plain threads side
// by side, on several workers.
//
//   Parties parties(runtime());
//   parties.add(PartyKind::fiber, 1, [&](auto as) -> decltype(as) { co_await mutex.lock(); ... });
//   parties.join();
//
// For a coroutine `as` is a Task; for a fiber and a plain thread it is a StraightTask, whose
// co_await is wait(). A party that has not ended within a generous bound stops the program with its
// name, so that a lost wake-up is a failure and not a hang.

#include <atomic>
#include <charconv>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime::testing {

/// Runs at once, where it is called; each co_await in it is a wait().
class StraightTask {
 public:
  template <class A>
  struct Straight {
    A&& awaitable;
    bool await_ready() { return true; }
    void await_suspend(std::coroutine_handle<>) {}
    decltype(auto) await_resume() { return wait(std::forward<A>(awaitable)); }
  };
  struct promise_type {
    StraightTask get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
    template <class A>
    Straight<A&&> await_transform(A&& awaitable) {
      return {std::forward<A>(awaitable)};
    }
  };
};

/// For results of a co_await whose type depends on the kind; GCC 12 takes no member of those.
template <class T>
bool succeeded(const Result<T>& result) {
  return result.has_value();
}

enum class PartyKind { fiber, coroutine, thread };
inline constexpr PartyKind party_kinds[] = {PartyKind::fiber, PartyKind::coroutine,
                                            PartyKind::thread};
inline const char* to_string(PartyKind kind) {
  constexpr const char* names[] = {"fiber", "coroutine", "thread"};
  return names[static_cast<int>(kind)];
}

class Parties {
 public:
  explicit Parties(Runtime& runtime) : runtime_(runtime) {}
  ~Parties() { join(); }
  Parties(const Parties&) = delete;
  Parties& operator=(const Parties&) = delete;

  /// On the named worker, unless it is a plain thread. They all begin at the first join().
  template <class Body>
  void add(PartyKind kind, unsigned worker, Body body) {
    std::packaged_task<void()> task([this, kind, worker, body = std::move(body)]() mutable {
      may_begin_.wait(false);
      if (kind == PartyKind::coroutine) {
        runtime_.run([&] { return Held<Task<>>::run(body); }, worker);
      } else if (kind == PartyKind::fiber) {
        runtime_.run([&] { body(StraightTask()); }, worker);
      } else {
        body(StraightTask());
      }
    });
    const std::string name = std::string(to_string(kind)) + " on worker " + std::to_string(worker);
    members_.push_back({name, task.get_future(), std::thread(std::move(task))});
  }
  /// One of each kind and worker, and one thread.
  template <class Body>
  void add_all(Body body) {
    for (const PartyKind kind : {PartyKind::fiber, PartyKind::coroutine}) {
      for (unsigned worker = 0; worker < runtime_.worker_count(); ++worker) {
        add(kind, worker, body);
      }
    }
    add(PartyKind::thread, 0, body);
  }
  void join() {
    may_begin_ = true;
    may_begin_.notify_all();
    for (Member& member : members_) {
      const bool ended =
          member.ended.wait_for(std::chrono::seconds(120)) == std::future_status::ready;
      SENNIT_ASSERT(ended && "a party of the test waits for ever", member.name);
      member.thread.join();
    }
    members_.clear();
  }

 private:
  struct Member {
    std::string name;
    std::future<void> ended;
    std::thread thread;
  };
  // `as` by value into the body, which needs no Task for that.
  template <class T>
  struct Held {
    template <class Body>
    static T run(Body& body) {
      return body(as());
    }
    static T as() { co_return; }
  };

  Runtime& runtime_;
  std::atomic<bool> may_begin_ = false;
  std::vector<Member> members_;
};

/// Which seed this run uses: SENNIT_SEED, or a fixed one.
inline std::uint64_t test_seed() {
  const char* text = std::getenv("SENNIT_SEED");
  std::uint64_t seed = 1;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), seed);
  return seed;
}

/// Fewer rounds where each is much slower.
inline int scaled(int rounds) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return rounds / 10 + 1;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  return rounds / 10 + 1;
#else
  return rounds;
#endif
#else
  return rounds;
#endif
}

}  // namespace sennit::runtime::testing
