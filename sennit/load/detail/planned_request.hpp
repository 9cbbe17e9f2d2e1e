#pragma once
// PlannedRequest: a request of which all that does not change has been written once.
//
// One without variables is bytes, sent from where they are. Another is rendered for each sending:
// the body first, because its length stands before it.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/base/random.hpp"
#include "sennit/base/result.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/http/method.hpp"
#include "sennit/load/mix.hpp"

namespace sennit::load::detail {

class PlannedRequest {
 public:
  struct Text {
    std::string method;
    std::string target;  // May have variables if `has_variables`; so may the next two.
    std::string host;
    http::Headers headers;
    std::string body;
    bool has_variables = false;
  };
  /// Errors: invalid_argument for what cannot be in a request, or is not ours to set.
  [[nodiscard]] static Result<PlannedRequest> make(const Text& text);

  [[nodiscard]] http::Method method() const { return method_; }
  [[nodiscard]] bool is_constant() const { return head_.is_constant() && body_.is_constant(); }

  /// The bytes of a constant one. `is_last`: with `Connection: close`.
  [[nodiscard]] const std::string& bytes(bool is_last) const {
    return is_last ? last_bytes_ : bytes_;
  }
  /// Appends one. `scratch` is used for the body.
  void append_to(Buffer& out, Buffer& scratch, bool is_last, std::uint64_t sequence,
                 Random& random) const;

 private:
  http::Method method_ = http::Method::get;
  Template head_ = Template::literal({});  // Without Content-Length, Connection and the empty line.
  Template body_ = Template::literal({});
  std::string connection_;  // The Connection field that the user set, or nothing.
  bool has_body_ = false;
  std::string bytes_, last_bytes_;
};

}  // namespace sennit::load::detail
