#include <string>

#include "sennit/base/buffer.hpp"
#include "sennit/perftest/count_allocations.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit {
namespace {

constexpr double header_bytes = 64;

class BufferPerf : public testing::Test {
 protected:
  Buffer buffer_;
  std::string header_ = std::string(static_cast<std::size_t>(header_bytes), 'x');
};

PERF_TEST_F(BufferPerf, PushBackAndClear) {
  buffer_.push_back('x');
  buffer_.clear();
}

PERF_TEST_F_WITH(BufferPerf, AppendAndConsume, .bytes_per_call = header_bytes) {
  buffer_.append(header_);
  buffer_.consume(header_.size());
}

// A stream whose reader is always a little behind: the rest has to be moved now and then.
PERF_TEST_F_WITH(BufferPerf, AppendAndConsumeBehind, .bytes_per_call = header_bytes) {
  buffer_.append(header_);
  if (buffer_.size() > 16 * header_.size()) buffer_.consume(15 * header_.size());
}

PERF_TEST_F(BufferPerf, FirstAppendToAnEmptyOne) {
  Buffer buffer;
  buffer.append(header_);
  perftest::do_not_optimize(buffer);
}

}  // namespace
}  // namespace sennit
