#pragma once
// The one way by which stores reach shared memory, so that a test can stop a writer at any of them.
//
// A container is a template over its Store: RealStore compiles to the bare store; HookedStore asks
// a hook before each one, word by word inside copies. A hook that throws or kills the process is a
// writer that died right there; one that returns false drops the store, as if it had died before.
// What is not on a hot path (segments, leases) always uses HookedStore.
//
// Copies come in two kinds. `copy` is for memory that nobody else looks at until a later release
// store publishes it. `copy_raced` and `load_raced` are for memory that may be read while it is
// written: word by word with relaxed atomics, because memcpy would be a data race; the caller
// validates afterwards and supplies the fences. Raced memory is 8-aligned, whole words are touched.
//
// Thread safety: set_store_hook from any thread; the hook is called on the threads that store.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sennit::shm {

/// Returns whether the store is to happen. May throw (in tests).
using StoreHook = bool (*)();
void set_store_hook(StoreHook hook);  // Null removes it.

namespace detail {
inline std::atomic<StoreHook> store_hook{nullptr};

inline bool hook_allows() {
  // acquire: pairs with the release in set_store_hook, for what the hook reads.
  const StoreHook hook = store_hook.load(std::memory_order_acquire);
  return hook == nullptr || hook();
}

inline std::uint64_t load_word(const void* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
}  // namespace detail

constexpr std::size_t round_up_to_word(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

template <bool hooked>
struct BasicStore {
  template <class T>
  static void store(std::atomic<T>& to, std::type_identity_t<T> value, std::memory_order order) {
    if constexpr (hooked) {
      if (!detail::hook_allows()) return;
    }
    to.store(value, order);
  }

  /// A dropped exchange claims to have succeeded, so that loops over it end.
  template <class T>
  static bool compare_exchange(std::atomic<T>& word, T& expected, std::type_identity_t<T> desired,
                               std::memory_order order) {
    if constexpr (hooked) {
      if (!detail::hook_allows()) return true;
    }
    // relaxed: the failure order; whoever loses looks again with an acquire of its own.
    return word.compare_exchange_strong(expected, desired, order, std::memory_order_relaxed);
  }

  /// Into memory that nobody reads before a later release store.
  static void copy(void* to, const void* from, std::size_t bytes) {
    if constexpr (!hooked) {
      if (bytes != 0) std::memcpy(to, from, bytes);
    } else {
      auto* target = static_cast<std::byte*>(to);
      const auto* source = static_cast<const std::byte*>(from);
      for (std::size_t at = 0; at < bytes; at += 8) {
        if (detail::hook_allows()) {
          std::memcpy(target + at, source + at, bytes - at < 8 ? bytes - at : 8);
        }
      }
    }
  }

  static void zero(void* to, std::size_t bytes) {
    if constexpr (hooked) {
      if (!detail::hook_allows()) return;
    }
    std::memset(to, 0, bytes);
  }

  /// Into memory that may be read at the same time. The last word is filled up with zeros.
  static void copy_raced(std::uint64_t* to, const void* from, std::size_t bytes) {
    const auto* source = static_cast<const std::byte*>(from);
    std::size_t left = bytes;
    for (; left >= 32; left -= 32, to += 4, source += 32) {
      const std::uint64_t words[4] = {detail::load_word(source), detail::load_word(source + 8),
                                      detail::load_word(source + 16),
                                      detail::load_word(source + 24)};
      put(to, words[0]);
      put(to + 1, words[1]);
      put(to + 2, words[2]);
      put(to + 3, words[3]);
    }
    for (; left >= 8; left -= 8, ++to, source += 8) put(to, detail::load_word(source));
    if (left > 0) {
      std::uint64_t word = 0;
      std::memcpy(&word, source, left);
      put(to, word);
    }
  }

 private:
  static void put(std::uint64_t* to, std::uint64_t word) {
    if constexpr (hooked) {
      if (!detail::hook_allows()) return;
    }
    // relaxed: the words of a raced copy; ordered by the fence and the version of their container.
    std::atomic_ref(*to).store(word, std::memory_order_relaxed);
  }
};

using RealStore = BasicStore<false>;
using HookedStore = BasicStore<true>;

/// Out of memory that may be written at the same time. The caller validates what came out.
inline void load_raced(void* to, const std::uint64_t* from, std::size_t bytes) {
  // relaxed: ordered before the caller's validation by its acquire fence. The cast is for
  // atomic_ref, which wants a mutable word; nothing is written, so read-only memory is fine.
  auto* words = const_cast<std::uint64_t*>(from);
  const auto get = [](std::uint64_t* word) {
    // relaxed: as said above.
    return std::atomic_ref(*word).load(std::memory_order_relaxed);
  };
  auto* target = static_cast<std::byte*>(to);
  std::size_t left = bytes;
  for (; left >= 32; left -= 32, words += 4, target += 32) {
    // One by one: gathered in an array, they would be stored as words and loaded again as a vector,
    // which the processor cannot forward (23 ns instead of 4 for a read of 64 bytes).
    const std::uint64_t first = get(words), second = get(words + 1);
    const std::uint64_t third = get(words + 2), fourth = get(words + 3);
    std::memcpy(target, &first, 8);
    std::memcpy(target + 8, &second, 8);
    std::memcpy(target + 16, &third, 8);
    std::memcpy(target + 24, &fourth, 8);
  }
  for (; left >= 8; left -= 8, ++words, target += 8) {
    const std::uint64_t word = get(words);
    std::memcpy(target, &word, 8);
  }
  if (left > 0) {
    const std::uint64_t word = get(words);
    std::memcpy(target, &word, left);
  }
}

}  // namespace sennit::shm
