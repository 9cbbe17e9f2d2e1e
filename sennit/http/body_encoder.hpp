#pragma once
// BodyEncoder: changes the bytes of a response's body as they are sent; compression is one.
//
// Thread safety: none; one body each.

#include <string>
#include <string_view>

namespace sennit::http {

class BodyEncoder {
 public:
  virtual ~BodyEncoder() = default;
  /// Appends to `out` what `bytes` become; nothing, if it waits for more. `is_last` ends the body.
  /// `flush`: what was given so far shall be readable by the client at once.
  virtual void encode(std::string_view bytes, bool is_last, bool flush, std::string& out) = 0;
};

}  // namespace sennit::http
