#pragma once
// A look into any segment, for tools: what it is, what is in it, whether it makes sense. Takes part
// in nothing: needs reading only, disturbs nobody, holds no lease.
//
// What is read while it is written may be half one message and half another where a container does
// not validate its readers' copies (queues: their messages are the consumer's). Kinds of container
// that this file does not know are shown by their headers alone.
//
// Thread safety: as Segment's.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/shm/segment.hpp"

namespace sennit::shm {

/// Lines of "name", "value": header, owners, geometry and fill.
using Facts = std::vector<std::pair<std::string, std::string>>;
/// Errors: malformed, where the container's geometry does not fit the segment.
[[nodiscard]] Result<Facts> describe(const Segment& segment);

/// Calls `use` for each element or message, oldest first, until it returns false.
/// Errors: malformed; unsupported for kinds that have no entries to show.
using UseEntry = std::function<bool(std::uint64_t number, std::span<const std::byte> bytes)>;
[[nodiscard]] Result<> for_each_entry(const Segment& segment, const UseEntry& use);

/// Checks everything that can be checked without the owner's help. Errors: malformed, what is
/// wrong.
[[nodiscard]] Result<> verify(const Segment& segment);

/// The segments of this machine that can be found by name and read: posix and sysv. Everything that
/// is no segment of ours, or not to be read by this process, is left out.
[[nodiscard]] std::vector<Place> find_segments();

}  // namespace sennit::shm
