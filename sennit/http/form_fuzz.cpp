// Any form: bounded, and each pair is found again by its name.

#include <cstdint>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/form.hpp"

namespace sennit::http {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto form = Form::parse({reinterpret_cast<const char*>(data), size});
  if (!form) return 0;
  SENNIT_ASSERT(form->pairs().size() <= Form::pairs_max);
  std::size_t bytes = 0;
  for (const auto& [name, value] : form->pairs()) {
    bytes += name.size() + value.size();
    SENNIT_ASSERT(form->get(name).has_value());
  }
  SENNIT_ASSERT(bytes <= size);
  return 0;
}

}  // namespace sennit::http
