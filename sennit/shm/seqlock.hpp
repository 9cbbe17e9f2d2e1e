#pragma once
// A value of any size that is read whole, while one process writes it and any number read.
//
// A SeqlockCell holds the value twice and a version that says which one counts, the even or the
// odd:
//
// 1. The writer fills the copy that does not count, word by word, then raises the version with
//    release. Killed in between, it has changed nothing: readers never wait for a writer.
// 2. A reader takes the version with acquire, copies word by word, fences, and looks at the version
//    again: unchanged, the copy is whole. Raised, the writer may have begun to fill that very copy
//    with the value after the next, so the reader starts again.
// 3. Before it fills a copy, the writer fences, so that who sees a word of it sees the version
//    that made the other copy count.
//
// Zeros are a cell whose value is all zeros. Thread safety: one writer, any readers; readers write
// nothing.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sennit/shm/store.hpp"

namespace sennit::shm {

/// In shared memory.
template <class T>
struct SeqlockCell {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);
  static constexpr std::size_t words = round_up_to_word(sizeof(T)) / 8;

  std::atomic<std::uint64_t> version;
  std::uint64_t copies[2][words];

  /// For the one writer.
  template <class Store = RealStore>
  void store(const T& value) {
    // relaxed: only this writer changes it.
    const std::uint64_t now = version.load(std::memory_order_relaxed);
    // release: pairs with the readers' acquire fence (rule 3).
    std::atomic_thread_fence(std::memory_order_release);
    Store::copy_raced(copies[(now + 1) % 2], &value, sizeof(T));
    // release: pairs with the readers' acquire of the version (rule 1).
    Store::store(version, now + 1, std::memory_order_release);
  }

  /// A value that was stored, whole. Starts again while the writer stores twice in that time.
  T load() const {
    T value;
    for (;;) {
      // acquire: pairs with the writer's release: the copy that counts is complete.
      const std::uint64_t before = version.load(std::memory_order_acquire);
      load_raced(&value, copies[before % 2], sizeof(T));
      // acquire: pairs with the writer's fence (rule 3).
      std::atomic_thread_fence(std::memory_order_acquire);
      // relaxed: ordered by the fence above.
      if (version.load(std::memory_order_relaxed) == before) return value;
    }
  }
};

/// What Array needs to know of a cell that is one atomic word.
template <class T>
struct AtomicCell {
  std::atomic<T> value;

  template <class Store = RealStore>
  void store(const T& given) {
    // release: pairs with the acquire in load(): what was stored before is seen, too.
    Store::store(value, given, std::memory_order_release);
  }
  T load() const {
    // acquire: pairs with the release in store().
    return value.load(std::memory_order_acquire);
  }
};

}  // namespace sennit::shm
