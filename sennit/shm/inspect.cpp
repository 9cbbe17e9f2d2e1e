#include "sennit/shm/inspect.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sstream>
#include <string_view>

#include "sennit/shm/array.hpp"
#include "sennit/shm/broadcast.hpp"
#include "sennit/shm/lease.hpp"
#include "sennit/shm/queue.hpp"

namespace sennit::shm {
namespace {

bool is_one_word(std::uint64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/// As Array<T> lays its cells out: one atomic, or a version and two copies.
std::uint64_t array_cell_bytes(std::uint64_t element_bytes) {
  return is_one_word(element_bytes) ? element_bytes : 8 + 2 * round_up_to_word(element_bytes);
}

Result<std::uint64_t> checked_array_count(const Segment& segment) {
  const Info& info = segment.info();
  if (info.element_bytes == 0 || info.element_bytes > segment.body().size()) {
    if (segment.body().empty()) return 0;
    return failure(Errc::malformed, "use it as an array: the size of its elements");
  }
  Layout same;
  same.kind = Kind::array;
  same.element_hash = info.element_hash;
  same.element_bytes = info.element_bytes;
  return detail::array_count(segment, same, array_cell_bytes(info.element_bytes));
}

Result<> array_entries(const Segment& segment, const UseEntry& use) {
  SENNIT_TRY(const std::uint64_t count, checked_array_count(segment));
  const std::uint64_t bytes = segment.info().element_bytes;
  const std::uint64_t cell_bytes = array_cell_bytes(bytes);
  std::vector<std::byte> element(bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const cell = segment.body().data() + i * cell_bytes;
    const std::byte* from = cell;
    if (!is_one_word(bytes)) {
      const auto* version = reinterpret_cast<const std::atomic<std::uint64_t>*>(cell);
      from = cell + 8 + version->load() % 2 * round_up_to_word(bytes);
    }
    std::memcpy(element.data(), from, bytes);
    if (!use(i, element)) break;
  }
  return {};
}

Result<> queue_entries(const Segment& segment, const UseEntry& use) {
  using What = detail::QueueRecord::What;
  SENNIT_TRY(const detail::QueueShape shape, detail::queue_shape(segment));
  const std::uint64_t start = shape.shared->consumed.load();
  if (start % 8 != 0) return detail::queue_is_damaged();
  std::vector<std::byte> message(shape.message_bytes_max);
  std::uint64_t number = 0;
  for (std::uint64_t at = start; at - start < shape.ring_bytes;) {
    const detail::QueueRecord record = detail::read_record(shape, at);
    if (record.what == What::none) return {};
    // The consumer may have moved on, and the producer written over what we look at.
    const bool is_stale = shape.shared->consumed.load() != start;
    if (record.what == What::damaged) {
      if (is_stale) return {};
      return detail::queue_is_damaged();
    }
    if (record.what == What::message) {
      load_raced(message.data(),
                 reinterpret_cast<const std::uint64_t*>(shape.ring + shape.offset(at) + 8),
                 record.bytes);
      if (!use(number++, std::span(message).first(record.bytes))) return {};
    }
    at = record.next;
  }
  return {};
}

Result<> broadcast_entries(const Segment& segment, const UseEntry& use) {
  using What = BroadcastRead::What;
  SENNIT_TRY(const detail::BroadcastShape shape, detail::broadcast_shape(segment));
  const std::uint64_t head = shape.shared->head.load();
  std::vector<std::byte> buffer(shape.message_bytes_max);
  BroadcastReader reader(shape, shape.oldest(head));
  while (reader.position() < head) {
    const BroadcastRead read = reader.read(buffer);
    if (read.what == What::damaged) return failure(Errc::malformed, "read it: a mark is wrong");
    if (read.what == What::none) return failure(Errc::malformed, "read it: a message is missing");
    if (read.what != What::message) continue;
    if (!use(read.sequence, std::span(buffer).first(read.bytes))) break;
  }
  return {};
}

std::string owner_text(const Segment& segment, Role role) {
  const int pid = owner_pid(segment, role);
  const bool is_dirty = segment.header().leases[static_cast<std::size_t>(role)].is_dirty != 0;
  if (pid == 0) return is_dirty ? "none; the last one did not give it back" : "none";
  return fmt::format("process {}{}", pid, owner_is_dead(segment, role) ? ", which has ended" : "");
}

Result<> add_fill(const Segment& segment, Facts& facts) {
  const Info& info = segment.info();
  if (info.kind == Kind::array) {
    SENNIT_TRY(const std::uint64_t count, checked_array_count(segment));
    facts.emplace_back("elements", fmt::format("{} of {} bytes", count, info.element_bytes));
  } else if (info.kind == Kind::queue) {
    SENNIT_TRY(const detail::QueueShape shape, detail::queue_shape(segment));
    const std::uint64_t consumed = shape.shared->consumed.load();
    SENNIT_TRY(const detail::QueueEnd end, detail::find_end(shape));
    facts.emplace_back("consumer", owner_text(segment, Role::consumer));
    facts.emplace_back("messages", fmt::format("{}", end.message_count));
    facts.emplace_back(
        "ring", fmt::format("{} of {} bytes used", end.position - consumed, shape.ring_bytes));
    facts.emplace_back("consumed", fmt::format("{} bytes in all", consumed));
  } else if (info.kind == Kind::broadcast) {
    SENNIT_TRY(const detail::BroadcastShape shape, detail::broadcast_shape(segment));
    const std::uint64_t head = shape.shared->head.load();
    facts.emplace_back("messages",
                       fmt::format("{} so far, from {} on readable", head, shape.oldest(head)));
    facts.emplace_back("slots",
                       fmt::format("{} of {} bytes", shape.slot_count, shape.message_bytes_max));
  } else {
    std::string words;
    for (const std::uint64_t word : info.geometry) words += fmt::format("{} ", word);
    facts.emplace_back("geometry", words);
  }
  return {};
}

}  // namespace

Result<Facts> describe(const Segment& segment) {
  const Info& info = segment.info();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(info.created.time_since_epoch());
  Facts facts;
  facts.emplace_back("place", segment.place().to_string());
  facts.emplace_back("kind", std::string(to_string(info.kind)));
  if (!info.label.empty()) facts.emplace_back("label", info.label);
  facts.emplace_back("bytes", fmt::format("{} of at most {}", info.bytes, info.bytes_max));
  facts.emplace_back("created", fmt::format("{} s after 1970 (UTC)", seconds.count()));
  facts.emplace_back("state", info.is_damaged ? "damaged" : info.is_clean ? "clean" : "in use");
  facts.emplace_back("writer", owner_text(segment, Role::writer));
  if (auto added = add_fill(segment, facts); !added) return failure(added.error());
  return facts;
}

Result<> for_each_entry(const Segment& segment, const UseEntry& use) {
  switch (segment.info().kind) {
    case Kind::array:
      return array_entries(segment, use);
    case Kind::queue:
      return queue_entries(segment, use);
    case Kind::broadcast:
      return broadcast_entries(segment, use);
    default:
      break;
  }
  return failure(Errc::unsupported,
                 fmt::format("show the entries of {}, a {}", segment.place().to_string(),
                             to_string(segment.info().kind)));
}

Result<> verify(const Segment& segment) {
  if (auto checked = segment.check(); !checked) return checked;
  if (auto described = describe(segment); !described) return failure(described.error());
  auto walked =
      for_each_entry(segment, [](std::uint64_t, std::span<const std::byte>) { return true; });
  if (!walked && walked.error().code() != Errc::unsupported) return walked;
  return segment.check();
}

std::vector<Place> find_segments() {
  std::vector<Place> found;
  const auto keep_ours = [&found](const Place& place) {
    if (Segment::open(place, Access::read_only, Duration::zero())) found.push_back(place);
  };
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    if (entry.is_regular_file(error)) keep_ours(Place::posix(entry.path().filename().string()));
  }
  std::ifstream table("/proc/sysvipc/shm");
  std::string line;
  std::getline(table, line);  // The names of the columns; the first is the key.
  while (std::getline(table, line)) {
    std::int32_t key = 0;
    std::istringstream(line) >> key;
    if (key != 0) keep_ours(Place::sysv(key));
  }
  std::ranges::sort(found, {}, &Place::to_string);
  return found;
}

}  // namespace sennit::shm
