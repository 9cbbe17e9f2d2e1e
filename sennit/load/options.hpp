#pragma once
// Options: what to send, where to, with how many connections, for how long.

#include <cstdint>
#include <string>

#include "sennit/base/time.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/load/url.hpp"
#include "sennit/runtime/io/backend.hpp"

namespace sennit::load {

struct Options {
  explicit Options(Url to) : url(std::move(to)) {}

  Url url;
  std::uint32_t connections = 10;  // Divided among the workers.
  unsigned workers = 2;            // Threads; at most one for each connection.
  Duration duration = std::chrono::seconds(10);
  Duration timeout = std::chrono::seconds(2);  // Of a connect, and of a request with its response.

  std::string method = "GET";
  http::Headers headers;  // Host and Connection may be set; lengths are ours to say.
  std::string body;       // Sent with its length unless empty.

  runtime::io::BackendKind backend = runtime::io::BackendKind::automatic;
  bool pin = false;              // Worker n to the n-th CPU this process may use.
  const Clock* clock = nullptr;  // Null: the real one. Must outlive the run.
};

}  // namespace sennit::load
