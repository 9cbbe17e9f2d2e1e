#pragma once
// Histograms as bytes: the HdrHistogram V2 encoding.
//
// What encode() writes, HdrHistogram's libraries for Java, C, Python and others decode, and the
// other way round. All integers are big-endian:
//
//   cookie | payload bytes | index offset | digits | lowest | highest | value ratio | payload
//      4   |       4       |      4       |   4    |   8    |    8    |   8, double |
//
// The payload is the counts in order as zigzag LEB128 numbers (at most nine bytes), a negative one
// standing for that many zeroes. The compressed form is a cookie, a length and a zlib stream of
// that. It keeps options and counts; sum, least and greatest come back as precise as the buckets
// are.
//
// Thread safety: pure functions.

#include <cstddef>
#include <vector>

#include "sennit/base/buffer.hpp"
#include "sennit/base/result.hpp"
#include "sennit/metrics/histogram.hpp"

namespace sennit::metrics {

[[nodiscard]] std::vector<std::byte> encode(const Histogram& histogram);
[[nodiscard]] std::vector<std::byte> encode_compressed(const Histogram& histogram);

/// Accepts both forms, from anyone: what it allocates is bounded by `bucket_count_max`.
///
/// Errors: malformed; limit_reached when the options named need more buckets than that;
/// unsupported for an older version of the encoding, or one whose counts are shifted.
[[nodiscard]] Result<Histogram> decode(ByteView bytes, std::size_t bucket_count_max = 1 << 20);

}  // namespace sennit::metrics
