// Reports from anyone: read or refused; what was read is shown, merged and written without harm.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/load/report_html.hpp"
#include "sennit/load/report_json.hpp"
#include "sennit/load/report_text.hpp"

namespace sennit::load {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto report = report_from_json({reinterpret_cast<const char*>(data), size});
  if (!report) {
    SENNIT_ASSERT(!report.error().doing().empty());
    return 0;
  }
  const Report copy = *report;
  report->merge(copy);
  const std::string html = to_html({{"a", *report}, {"b", copy}});
  SENNIT_ASSERT(html.ends_with("</html>\n"));
  SENNIT_ASSERT(!to_text(*report, true).empty());
  SENNIT_ASSERT(!to_json(*report).empty());
  return 0;
}

}  // namespace sennit::load
