#pragma once
// Files: a folder served as it is, with ranges, conditional requests and no way out of it.
//
//   auto files = http::StaticFiles::open("/srv/www");
//   if (!files) ...;
//   server.get("/static/{rest*}", files->handler("rest"));
//
// What is served is a regular file below the root, found without following a link that leaves it
// (openat2 with RESOLVE_BENEATH; where the kernel refuses that call no link is followed at all).
// "..", an encoded slash, backslash or NUL, names that begin with a dot, devices, FIFOs, sockets
// and folders are all "not found". A path that ends with a slash means its index.html.
//
// Answers carry a strong ETag and Last-Modified, and take If-Match, If-Unmodified-Since,
// If-None-Match, If-Modified-Since, Range and If-Range as RFC 9110 orders them. Several ranges are
// answered as multipart/byteranges; see ranges.hpp for those that are not.
//
// Files are opened and read on the worker (file_body.hpp).
//
// Thread safety: const functions and handlers any number of threads.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/response.hpp"

namespace sennit::http {

class StaticFiles {
 public:
  /// Errors: not_found and what else opening a folder says.
  [[nodiscard]] static Result<StaticFiles> open(const std::string& root);

  /// Answers a GET or HEAD for `path`, which is decoded and relative to the root.
  [[nodiscard]] Response serve(const Request& request, std::string_view path) const;
  /// For a route whose {param*} is the path.
  [[nodiscard]] std::function<Response(Request&)> handler(std::string param) const;

 private:
  struct Root {
    explicit Root(int d) : descriptor(d) {}
    ~Root();
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;
    int descriptor;
  };
  explicit StaticFiles(std::shared_ptr<const Root> root) : root_(std::move(root)) {}
  std::shared_ptr<const Root> root_;
};

/// "text/html; charset=utf-8" of "index.html"; application/octet-stream for what is not known.
/// Static storage.
[[nodiscard]] std::string_view content_type_of(std::string_view filename);

}  // namespace sennit::http
