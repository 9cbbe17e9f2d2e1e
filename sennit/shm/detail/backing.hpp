#pragma once
// What the system gives: a descriptor or a System V id, its size, and a mapping of it that stays
// where it is while the segment grows underneath. Errors are the system's.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sennit/base/result.hpp"
#include "sennit/shm/header.hpp"
#include "sennit/shm/place.hpp"

namespace sennit::shm::detail {

class Backing {
 public:
  /// Makes it exclusively, `bytes` long, and maps `bytes_max`. All zeros.
  static Result<Backing> create(const Place& place, std::uint64_t bytes, std::uint64_t bytes_max,
                                std::uint32_t permissions, bool reserve);
  /// Opens what is there. System V memory is mapped at once; files when map() is called.
  static Result<Backing> open(const Place& place, bool writable);
  /// Takes over a descriptor, which is closed even if this fails.
  static Result<Backing> adopt(int fd, bool writable);

  Backing(Backing&& other) noexcept { swap(other); }
  Backing& operator=(Backing&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Backing();

  /// Errors: also unsupported for what is no regular file.
  Result<> map(std::uint64_t bytes_max);
  /// A copy of the first page; what is not there reads as zeros.
  Result<HeaderPage> first_page() const;
  /// What is there at this moment.
  Result<std::uint64_t> size() const;
  Result<> resize(std::uint64_t bytes, bool reserve);
  static Result<> remove(const Place& place);

  std::byte* base() const { return base_; }
  std::uint64_t mapped_bytes() const { return mapped_; }
  int fd() const { return fd_; }
  bool writable() const { return writable_; }
  const Place& place() const { return place_; }
  const std::atomic<bool>& damage_flag() const { return *damaged_; }

 private:
  Backing() = default;
  void swap(Backing& other) noexcept;
  Result<> create_file(std::uint32_t permissions);
  Result<> attach_sysv();
  Result<> start_guard();

  Place place_;
  int fd_ = -1;
  int id_ = -1;  // Of shmget.
  std::byte* base_ = nullptr;
  std::uint64_t mapped_ = 0;
  std::uint64_t page_bytes_ = 4096;
  bool writable_ = false;
  const std::atomic<bool>* damaged_ = nullptr;
};

}  // namespace sennit::shm::detail
