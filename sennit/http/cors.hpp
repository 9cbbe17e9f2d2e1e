#pragma once
// CORS: a middleware that tells browsers which other sites may call (fetch.spec.whatwg.org).
//
//   server.use(http::cors(http::CorsOptions().allow_origin("https://app.example.com")
//                             .allow_credentials()));
//
// Preflights are answered here, with 204, and reach no handler. An origin that is not allowed gets
// an answer without any of these fields, which the browser then keeps from its page.
//
// `*` and credentials together would let every site act as the user, so asking for both is a defect
// of the program and stops it; so does an origin that is none. With credentials the allowed origin
// is named, never `*`, and so are methods and header fields.
//
// Thread safety: the middleware is called by every worker.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "sennit/http/middleware.hpp"

namespace sennit::http {

class CorsOptions {
 public:
  /// "https://app.example.com", with the port if it is not the usual one.
  CorsOptions& allow_origin(std::string origin);
  CorsOptions& allow_any_origin();
  /// For rules of one's own. Called for each request by every worker.
  CorsOptions& allow_origins_if(std::function<bool(std::string_view origin)> allowed);
  /// GET, HEAD, POST, PUT, PATCH and DELETE unless said.
  CorsOptions& allow_methods(std::vector<std::string> methods);
  /// Fields that a request may carry. Whatever is asked for, unless said.
  CorsOptions& allow_headers(std::vector<std::string> names);
  /// Fields of a response that a page may read.
  CorsOptions& expose_headers(std::vector<std::string> names);
  CorsOptions& allow_credentials(bool on = true);
  /// Answers `Access-Control-Request-Private-Network`.
  CorsOptions& allow_private_network(bool on = true);
  /// How long a browser may keep the answer to a preflight.
  CorsOptions& max_age(std::chrono::seconds age);

 private:
  friend class CorsPolicy;
  std::vector<std::string> origins_;
  bool any_origin_ = false;
  std::function<bool(std::string_view)> allowed_;
  std::string methods_ = "GET, HEAD, POST, PUT, PATCH, DELETE";
  std::string headers_;
  std::string exposed_;
  bool credentials_ = false;
  bool private_network_ = false;
  std::chrono::seconds max_age_{0};
};

[[nodiscard]] std::function<Task<Response>(Request&, Next)> cors(const CorsOptions& options);

}  // namespace sennit::http
