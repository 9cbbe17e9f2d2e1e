#pragma once
// The first page of every segment: what it is, how large, who writes it. Everything that a process
// must know before it touches the rest, and everything it must doubt.
//
//   offset 0     identity: magic, version, byte order, kind, element, limits, time   checksummed
//          64    state: damaged or not; who is making or made it
//          128   4 leases: who holds each role (lease.hpp)
//          256   2 extents: size and geometry; the valid one of the higher sequence counts
//          512   label, for people                                                   checksummed
//          576   zeros up to 4096, where the body begins
//
// 1. A maker claims `maker` (zero before), prepares the body, writes all fields, and the magic
// last:
//    without its magic a segment is unfinished, with it complete.
// 2. Identity and label never change afterwards. An extent is written by zeroing its sequence,
//    writing its fields and its checksum, then its sequence: one that was being written when its
//    writer died is ignored, the other still stands.
// 3. Nobody works on the header in place: it is copied out once, the copy is validated, and the
//    validated copy is what is believed from then on.
//
// Thread safety: values and pure functions.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"

namespace sennit::shm {

enum class Kind : std::uint32_t {
  none = 0,
  raw = 1,
  array = 2,
  seqlock = 3,
  queue = 4,
  multi_queue = 5,
  broadcast = 6,
  hash_table = 7,
  geometric_table = 8,
  rows_table = 9,
  chained_table = 10,
  block_store = 11,
  hash_map = 12,
  user = 1'000,  // And above: containers that are not ours.
};
[[nodiscard]] std::string_view to_string(Kind kind);

/// Sizes and capacities that a container needs to find its way; each names its own words.
using Geometry = std::array<std::uint64_t, 8>;

/// What a container asks for, and what it expects to find again.
struct Layout {
  Kind kind = Kind::raw;
  std::uint64_t element_hash = 0;  // See element_hash(): other layouts of T give other hashes.
  std::uint64_t element_bytes = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t body_bytes_max = 0;  // As far as it may grow; 0 for body_bytes.
  Geometry geometry{};
  std::string label{};  // Up to 63 bytes.
};

/// What a valid header said.
struct Info {
  Kind kind = Kind::none;
  std::uint64_t element_hash = 0;
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;  // Header and body.
  std::uint64_t bytes_max = 0;
  Geometry geometry{};
  std::uint64_t extent_sequence = 0;  // 1, and 1 more each time it grew.
  WallTime created;
  std::string label;
  bool is_damaged = false;
  bool is_clean = true;  // No role is held, and each was given back in order.
};

inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::uint32_t format_version = 1;
inline constexpr std::uint32_t byte_order_mark = 0x01020304;
inline constexpr std::size_t role_count = 4;
inline constexpr std::size_t label_bytes_max = 63;
/// No segment is larger: 64 TiB, half of what a process can address.
inline constexpr std::uint64_t segment_bytes_max = std::uint64_t{1} << 46;

struct Identity {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t kind;
  std::uint32_t reserved;
  std::uint64_t element_hash;
  std::uint64_t element_bytes;
  std::uint64_t bytes_max;
  std::uint64_t created_ns;
  std::uint64_t checksum;
};
struct LeaseRecord {
  std::uint64_t owner;          // 0, or process id, start time and a hash of what follows.
  std::uint64_t pid_namespace;  // In which that id means something; 0 if not said yet.
  std::uint64_t is_dirty;       // 1 from the first moment of a lease until it is given back.
  std::uint64_t takeover_count;
};
struct Extent {
  std::uint64_t sequence;  // 0 while being written.
  std::uint64_t bytes;
  Geometry geometry;
  std::uint64_t checksum;
  std::uint64_t reserved[5];
};
struct HeaderPage {
  Identity identity;
  std::uint64_t state;  // 0, or 1 once damage was seen.
  std::uint64_t maker;
  std::uint64_t maker_namespace;
  std::uint64_t reserved[5];
  LeaseRecord leases[role_count];
  Extent extents[2];
  std::array<char, 64> label;
  std::byte zeros[header_bytes - 576];
};
static_assert(sizeof(Identity) == 64 && sizeof(LeaseRecord) == 32 && sizeof(Extent) == 128);
static_assert(sizeof(HeaderPage) == header_bytes && offsetof(HeaderPage, label) == 512);

inline constexpr std::array<char, 8> magic_bytes = {'S', 'E', 'N', 'N', 'I', 'T', 'S', 'H'};

/// Identity, extent 0 and label of a new segment, everything else zero; the magic is set too.
[[nodiscard]] Result<HeaderPage> make_header(const Layout& layout, WallTime created);

/// Extent number `sequence` (from 1); it belongs into slot sequence % 2.
[[nodiscard]] Extent make_extent(std::uint64_t sequence, std::uint64_t bytes,
                                 const Geometry& geometry);

/// Believes nothing: every field is checked, against the others and against the `bytes_there` that
/// the segment really has.
///
/// Errors: malformed (which field, and how) and unsupported (another version or byte order).
[[nodiscard]] Result<Info> read_header(const HeaderPage& copy, std::uint64_t bytes_there);

/// Errors: malformed if damaged; invalid_argument if it is of another kind or element.
[[nodiscard]] Result<> expect(const Info& info, const Layout& wanted);

/// A 64-bit hash of bytes that tells accidents apart, not attackers.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0);

constexpr std::uint64_t hash_text(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ (hash >> 29);
}

/// Of what T is made, as far as the compiler says: size, alignment, and whether it is a number of
/// which sort. A struct that wants its fields told apart has
/// `static constexpr std::string_view shm_layout = "id:u64 price:f64"`.
template <class T>
[[nodiscard]] constexpr std::uint64_t element_hash() {
  static_assert(std::is_trivially_copyable_v<T>, "shared memory holds plain bytes");
  static_assert(!std::is_pointer_v<T>, "a pointer means nothing in another process");
  std::uint64_t hash = 0xcbf29ce484222325u;
  const std::uint64_t traits = (std::is_integral_v<T> ? 1u : 0u) |
                               (std::is_floating_point_v<T> ? 2u : 0u) |
                               (std::is_signed_v<T> ? 4u : 0u) | (std::is_enum_v<T> ? 8u : 0u);
  for (const std::uint64_t part : {std::uint64_t{sizeof(T)}, std::uint64_t{alignof(T)}, traits}) {
    hash = (hash ^ part) * 0x100000001b3u;
  }
  if constexpr (requires { std::string_view(T::shm_layout); })
    hash = hash_text(T::shm_layout, hash);
  return hash ^ (hash >> 32);
}

}  // namespace sennit::shm
