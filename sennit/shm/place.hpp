#pragma once
// Where a segment lives: which of the system's kinds of shared memory, and under what name.
//
// As text, for command lines and messages: "posix:/orders", "file:/var/lib/orders",
// "sysv:0x5e440001", "sysv_huge:0x5e440001". Those without a name ("anonymous", "heap", "memfd")
// can be made but not opened: children inherit an anonymous one, a memfd travels over a Unix
// socket.
//
// Thread safety: a value.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"

namespace sennit::shm {

enum class Backing : std::uint8_t {
  heap,       // Private to the process: a container of the same code without sharing.
  anonymous,  // Shared with the children that are forked while it is mapped.
  posix,      // shm_open: named, in memory, until removed or the machine restarts.
  file,       // Named, survives a restart of the machine as far as the file system does.
  memfd,      // Nameless, passed over a Unix socket, sealed so that nobody can cut it off.
  sysv,       // shmget by key.
  sysv_huge,  // shmget by key, in huge pages.
};
[[nodiscard]] std::string_view to_string(Backing backing);

struct Place {
  Backing backing = Backing::heap;
  std::string name{};    // posix, file: the path; memfd: what /proc shows.
  std::int32_t key = 0;  // sysv, sysv_huge.

  static Place heap() { return {}; }
  static Place anonymous() { return {Backing::anonymous}; }
  /// "/name", or "name" for short.
  static Place posix(std::string_view name) {
    return {Backing::posix, (name.starts_with('/') ? "" : "/") + std::string(name)};
  }
  static Place file(std::string path) { return {Backing::file, std::move(path)}; }
  static Place memfd(std::string name) { return {Backing::memfd, std::move(name)}; }
  static Place sysv(std::int32_t key) { return {Backing::sysv, {}, key}; }
  static Place sysv_huge(std::int32_t key) { return {Backing::sysv_huge, {}, key}; }

  /// Errors: invalid_argument, for an unknown kind, a missing name or a key that is no number.
  static Result<Place> parse(std::string_view text);

  /// The inverse of parse().
  [[nodiscard]] std::string to_string() const;
};

}  // namespace sennit::shm
