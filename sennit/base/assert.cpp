#include "sennit/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace sennit::detail {

void assert_failed(const AssertSite& site, const std::string* values, int count) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", site.file, site.line, site.condition);
  for (int i = 0; i < count; ++i) {
    std::fprintf(stderr, "%s%s", i == 0 ? "  " : ", ", values[i].c_str());
  }
  if (count > 0) std::fprintf(stderr, "  are the values of: %s\n", site.names);
  std::fflush(stderr);
  std::abort();
}

}  // namespace sennit::detail
