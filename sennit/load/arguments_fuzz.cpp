// What is written on a command line: each kind is read or refused in words, and what was read keeps
// its promises.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "sennit/base/assert.hpp"
#include "sennit/load/condition.hpp"
#include "sennit/load/schedule.hpp"
#include "sennit/load/sweep.hpp"
#include "sennit/load/units.hpp"
#include "sennit/load/url.hpp"

namespace sennit::load {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto segments = parse_segments(text)) {
    const Schedule schedule(*segments);
    Duration before = Duration::zero();
    for (std::uint64_t i = 0; i < 100; ++i) {
      const Duration time = schedule.time_of(i * 1000);
      SENNIT_ASSERT(time >= before, i);
      before = time;
    }
  }
  if (const auto condition = Condition::parse(text)) {
    std::ignore = condition->holds(Report());
  }
  if (const auto axis = parse_axis(text)) {
    SENNIT_ASSERT(!axis->values.empty() && axis->values.size() <= axis_values_max);
  }
  std::ignore = parse_count(text);
  std::ignore = parse_duration(text);
  if (const auto url = Url::parse(text)) SENNIT_ASSERT(url->target().starts_with('/'));
  return 0;
}

}  // namespace sennit::load
