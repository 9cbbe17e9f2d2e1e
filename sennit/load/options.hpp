#pragma once
// Options: what to send, where to, with how many connections, at what pace, for how long.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/load/mix.hpp"
#include "sennit/load/schedule.hpp"
#include "sennit/load/url.hpp"
#include "sennit/runtime/io/backend.hpp"

namespace sennit::load {

struct Options {
  explicit Options(Url to) : url(std::move(to)) {}

  Url url;
  std::string unix_socket = {};    // Connect there instead; the URL still gives Host and path.
  std::uint32_t connections = 10;  // Divided among the workers.
  unsigned workers = 2;            // Threads; at most one for each connection.
  Duration duration = std::chrono::seconds(10);
  Duration warm_up = Duration::zero();         // Before it: driven, but not measured.
  Duration timeout = std::chrono::seconds(2);  // Of a connect, and of a request with its response.

  /// Empty: a closed loop, each connection asks again as soon as it is answered. Otherwise an open
  /// loop: when requests are due, whatever has become of those before.
  std::vector<Schedule::Segment> rate = {};
  std::uint32_t pipeline = 1;  // Requests of a connection that may be unanswered at a time.
  /// After so many a connection is closed and another opened; 0: never.
  std::uint32_t requests_per_connection = 0;

  std::string method = "GET";
  http::Headers headers = {};  // Host and Connection may be set; lengths are ours to say.
  std::string body = {};       // Sent with its length unless empty.
  Mix mix = {};                // Instead of the URL's path, the method and the body, unless empty.

  /// Streams driven at the same time and reported apart, which is how slow requests beside fast
  /// ones are measured. Of theirs `duration`, `warm_up`, `workers`, `backend`, `pin` and `clock`
  /// are ignored.
  std::vector<Options> beside = {};

  /// Of an open loop: a run in which more than 1 % of the requests left later than this after they
  /// were due although a connection was free is void.
  Duration lag_max = std::chrono::milliseconds(1);

  runtime::io::BackendKind backend = runtime::io::BackendKind::automatic;
  bool pin = false;              // Worker n to the n-th CPU this process may use.
  const Clock* clock = nullptr;  // Null: the real one. Must outlive the run.
  std::uint64_t seed = 1;        // Of the choice among a mix and of its random numbers.
};

}  // namespace sennit::load
