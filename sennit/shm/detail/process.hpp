#pragma once
// Who a process is, in one word, which is claimed by one compare-and-exchange: its id (22 bits),
// the moment it was started (30 bits, in clock ticks since boot), so that an id which was given to
// another process is not taken for the first, and a hash of its pid namespace (12 bits).

#include <cstdint>

namespace sennit::shm::detail {

inline constexpr int pid_bits = 22;  // The kernel's limit is 2^22.
inline constexpr int start_bits = 30;

/// This process; never 0.
std::uint64_t own_process();
/// In which namespace process ids are meant; 0 where the kernel does not say.
std::uint64_t own_pid_namespace();

/// Whether the process's id may be meant in the namespace of this one.
bool is_of_own_namespace(std::uint64_t process);

constexpr int pid_of(std::uint64_t process) {
  return static_cast<int>(process & ((std::uint64_t{1} << pid_bits) - 1));
}

/// False only for what certainly runs no more. A zombie has ended. For processes of own namespace.
bool may_be_alive(std::uint64_t process);

}  // namespace sennit::shm::detail
