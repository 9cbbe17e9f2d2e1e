#include "sennit/shm/header.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace sennit::shm {
namespace {

constexpr std::uint64_t sequence_mark = 0xa5a5'0000'0000'0000;  // No single bit makes it zero.

std::uint64_t identity_checksum(const HeaderPage& page) {
  HeaderPage copy = page;
  copy.identity.checksum = 0;
  const auto seed = checksum(std::as_bytes(std::span(&copy.identity, 1)));
  return checksum(std::as_bytes(std::span(copy.label)), seed);
}

std::uint64_t extent_checksum(Extent extent) {
  extent.checksum = 0;
  return checksum(std::as_bytes(std::span(&extent, 1)), 1);
}

template <class T, std::size_t n>
bool all_zero(const T (&values)[n]) {
  const auto bytes = std::as_bytes(std::span(values));
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

std::unexpected<Error> bad(std::string what) {
  return failure(Errc::malformed, "understand the header: " + std::move(what));
}

Result<> check_identity(const HeaderPage& page) {
  const Identity& id = page.identity;
  if (id.magic == std::array<char, 8>{}) return bad("it is unfinished, the magic is missing");
  if (id.magic != magic_bytes) return bad("not a sennit segment");
  if (id.byte_order != byte_order_mark) {
    return failure(Errc::unsupported,
                   fmt::format("understand the header: byte order {:#x}", id.byte_order));
  }
  if (id.version != format_version) {
    return failure(Errc::unsupported,
                   fmt::format("understand the header: format version {}, this program knows {}",
                               id.version, format_version));
  }
  if (id.checksum != identity_checksum(page)) return bad("its checksum is wrong");
  if (id.kind == 0 || id.reserved != 0) return bad("no kind");
  if (page.label.back() != '\0') return bad("the label has no end");
  if (id.bytes_max < header_bytes || id.bytes_max > segment_bytes_max) return bad("its limit");
  return {};
}

Result<> check_mutable(const HeaderPage& page) {
  if (page.state > 1) return bad("the state");
  for (const LeaseRecord& lease : page.leases) {
    if (lease.is_dirty > 1) return bad("a lease");
  }
  if (!all_zero(page.reserved) || !all_zero(page.zeros)) return bad("bytes that must be zero");
  return {};
}

/// The extent that counts. One that is there must be right: only sequence 0 says "unfinished".
Result<Extent> pick_extent(const HeaderPage& page) {
  const Extent* picked = nullptr;
  for (const Extent& extent : page.extents) {
    if (extent.sequence == 0) continue;
    const std::uint64_t number = extent.sequence ^ sequence_mark;
    const bool is_right = extent.checksum == extent_checksum(extent) && number < (1u << 30) &&
                          &extent == &page.extents[number % 2] && all_zero(extent.reserved);
    if (!is_right) return bad("an extent");
    if (picked == nullptr || extent.sequence > picked->sequence) picked = &extent;
  }
  if (picked == nullptr) return bad("no extent");
  return *picked;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::none:
      return "none";
    case Kind::raw:
      return "raw";
    case Kind::array:
      return "array";
    case Kind::seqlock:
      return "seqlock";
    case Kind::queue:
      return "queue";
    case Kind::multi_queue:
      return "multi_queue";
    case Kind::broadcast:
      return "broadcast";
    case Kind::hash_table:
      return "hash_table";
    case Kind::geometric_table:
      return "geometric_table";
    case Kind::rows_table:
      return "rows_table";
    case Kind::chained_table:
      return "chained_table";
    case Kind::block_store:
      return "block_store";
    case Kind::hash_map:
      return "hash_map";
    case Kind::user:
      return "user";
  }
  return "unknown";
}

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t hash = seed ^ (0x9e3779b97f4a7c15u * (bytes.size() + 1));
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
  };
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    mix(word);
    bytes = bytes.subspan(8);
  }
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  mix(rest);
  hash *= 0x94d049bb133111ebu;
  return hash ^ (hash >> 29);
}

Extent make_extent(std::uint64_t sequence, std::uint64_t bytes, const Geometry& geometry) {
  Extent extent{};
  extent.sequence = sequence ^ sequence_mark;
  extent.bytes = bytes;
  extent.geometry = geometry;
  extent.checksum = extent_checksum(extent);
  return extent;
}

Result<HeaderPage> make_header(const Layout& layout, WallTime created) {
  const auto refuse = [&layout](std::string_view why) {
    return failure(Errc::invalid_argument,
                   fmt::format("lay out a {}: {}", to_string(layout.kind), why));
  };
  const std::uint64_t body_max =
      layout.body_bytes_max == 0 ? layout.body_bytes : layout.body_bytes_max;
  if (layout.kind == Kind::none) return refuse("it has no kind");
  if (layout.body_bytes > body_max) return refuse("larger than its limit");
  if (body_max > segment_bytes_max - header_bytes) return refuse("larger than 64 TiB");
  if (layout.label.size() > label_bytes_max) return refuse("a label of more than 63 bytes");
  HeaderPage page{};
  Identity& id = page.identity;
  id.magic = magic_bytes;
  id.version = format_version;
  id.byte_order = byte_order_mark;
  id.kind = static_cast<std::uint32_t>(layout.kind);
  id.element_hash = layout.element_hash;
  id.element_bytes = layout.element_bytes;
  id.bytes_max = header_bytes + body_max;
  id.created_ns = static_cast<std::uint64_t>(created.time_since_epoch().count());
  std::ranges::copy(layout.label, page.label.begin());
  id.checksum = identity_checksum(page);
  page.extents[1] = make_extent(1, header_bytes + layout.body_bytes, layout.geometry);
  return page;
}

Result<Info> read_header(const HeaderPage& page, std::uint64_t bytes_there) {
  if (auto checked = check_identity(page); !checked) return failure(checked.error());
  if (auto checked = check_mutable(page); !checked) return failure(checked.error());
  SENNIT_TRY(const Extent extent, pick_extent(page));
  const Identity& id = page.identity;
  if (extent.bytes < header_bytes || extent.bytes > id.bytes_max) return bad("its size");
  if (extent.bytes > bytes_there) {
    return bad(fmt::format("it was cut off: {} bytes are there of {}", bytes_there, extent.bytes));
  }
  Info info;
  info.kind = static_cast<Kind>(id.kind);
  info.element_hash = id.element_hash;
  info.element_bytes = id.element_bytes;
  info.bytes = extent.bytes;
  info.bytes_max = id.bytes_max;
  info.geometry = extent.geometry;
  info.extent_sequence = extent.sequence ^ sequence_mark;
  info.created = WallTime(Duration(static_cast<std::int64_t>(id.created_ns)));
  info.label = page.label.data();
  info.is_damaged = page.state != 0;
  info.is_clean = std::ranges::all_of(
      page.leases, [](const LeaseRecord& l) { return l.owner == 0 && l.is_dirty == 0; });
  return info;
}

Result<> expect(const Info& info, const Layout& wanted) {
  const auto refuse = [&](Errc code, std::string what) {
    return failure(code, fmt::format("use it as a {}: {}", to_string(wanted.kind), what));
  };
  if (info.is_damaged) return refuse(Errc::malformed, "it is marked as damaged");
  if (info.kind != wanted.kind) {
    return refuse(Errc::invalid_argument, fmt::format("it is a {}", to_string(info.kind)));
  }
  if (info.element_hash != wanted.element_hash || info.element_bytes != wanted.element_bytes) {
    return refuse(Errc::invalid_argument,
                  fmt::format("its elements have {} bytes and layout {:#x}, not {} and {:#x}",
                              info.element_bytes, info.element_hash, wanted.element_bytes,
                              wanted.element_hash));
  }
  return {};
}

}  // namespace sennit::shm
