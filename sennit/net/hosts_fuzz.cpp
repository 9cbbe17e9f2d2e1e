// No text makes the hosts parser crash or forget its limits.

#include <cstddef>
#include <cstdint>

#include "sennit/base/assert.hpp"
#include "sennit/net/hosts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sennit::net::Hosts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Hosts hosts = Hosts::parse(text, {.names_max = 4, .addresses_per_name_max = 2});
  SENNIT_ASSERT(hosts.name_count() <= 4, hosts.name_count());
  SENNIT_ASSERT(hosts.find("a").size() <= 2, hosts.find("a").size());
  return 0;
}
