#include "sennit/shm/array.hpp"

#include <algorithm>

namespace sennit::shm::detail {

Layout array_layout(const ArrayOptions& options, std::uint64_t cell_bytes, std::uint64_t hash,
                    std::uint64_t element_bytes) {
  // More than a segment can hold is refused by Segment.
  const auto bytes = [cell_bytes](std::uint64_t count) {
    return count > segment_bytes_max / cell_bytes ? segment_bytes_max : count * cell_bytes;
  };
  Layout layout;
  layout.kind = Kind::array;
  layout.element_hash = hash;
  layout.element_bytes = element_bytes;
  layout.body_bytes = bytes(options.count);
  layout.body_bytes_max = bytes(std::max(options.count, options.count_max));
  layout.geometry = {options.count};
  layout.label = options.label;
  return layout;
}

Result<std::uint64_t> array_count(const Segment& segment, const Layout& wanted,
                                  std::uint64_t cell_bytes) {
  if (auto fits = expect(segment.info(), wanted); !fits) return failure(fits.error());
  const std::uint64_t count = segment.info().geometry[0];
  if (count > segment_bytes_max / cell_bytes || count * cell_bytes != segment.body().size()) {
    return failure(Errc::malformed,
                   "use " + segment.place().to_string() + " as an array: its size");
  }
  return count;
}

}  // namespace sennit::shm::detail
