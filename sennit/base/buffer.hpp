#pragma once
// Bytes: views of them, and Buffer, a contiguous queue of them for one stream.
//
//   consumed | view()             | free
//   ---------+--------------------+---------------------
//            ^ reading starts     ^ prepare() / append() write here
//
// Thread safety: none. Views and pointers into a Buffer are good until its next non-const call.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sennit {

using ByteView = std::span<const std::byte>;

[[nodiscard]] inline ByteView as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}
[[nodiscard]] inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Owns its memory; an empty one that was never written to owns none.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() = default;

  [[nodiscard]] std::string_view view() const { return {memory_.get() + begin_, size()}; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Adds at the end, growing as needed.
  void append(std::string_view text);
  void push_back(char byte) { append({&byte, 1}); }

  /// Room for at least `bytes` to be written at the end; commit() says how many were.
  [[nodiscard]] std::span<char> prepare(std::size_t bytes);
  /// Requires that prepare() gave room for that many.
  void commit(std::size_t bytes);

  /// Drops from the front. Requires bytes <= size().
  void consume(std::size_t bytes);
  /// Drops everything and keeps the memory.
  void clear() { begin_ = end_ = 0; }
  /// Drops everything and frees the memory.
  void release();

 private:
  void make_room(std::size_t bytes);

  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sennit
