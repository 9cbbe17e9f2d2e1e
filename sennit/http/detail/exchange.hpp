#pragma once
// Exchange: one request being received and answered. Borrowed from the worker's pool when a head is
// complete, returned when its response is written, so that an idle connection holds none.

#include <optional>

#include "sennit/base/buffer.hpp"
#include "sennit/base/time.hpp"
#include "sennit/http/body.hpp"
#include "sennit/http/detail/route_table.hpp"
#include "sennit/http/h1/chunked.hpp"
#include "sennit/http/handler.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/response.hpp"
#include "sennit/http/router.hpp"
#include "sennit/metrics/golden_signals.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::http::detail {

class Connection;

class Exchange : public runtime::FiberJob, public runtime::Waiter {
 public:
  explicit Exchange(runtime::Worker& worker);

  /// Runs the handler, on a fiber or as a coroutine, and then what writes the response's body.
  /// Connection::handled() is called when all has ended, which may be before this returns.
  void run(Handler& handler, Connection& connection);
  /// Asks what run() started to end early.
  void cancel();
  /// Empties it for the pool.
  void reset();

  Request request;
  Response response;
  Router::Match match;
  const ServedRoute* route = nullptr;
  TimePoint started;
  bool is_counted = false;                                 // As in flight.
  metrics::Outcome outcome = metrics::Outcome::cancelled;  // Unless it is answered.
  TimePoint cancel_at = TimePoint::max();                  // The handler.
  bool times_out = false;  // That is why; else because its client is gone.
  bool is_cancelled = false;
  bool is_abandoned = false;  // It goes on all the same, and the client was told without it.

  // The request's body.
  h1::Body body = h1::Body::none;
  std::uint64_t body_bytes_left = 0;  // If its length was declared.
  std::uint64_t body_bytes = 0;       // Received so far.
  h1::ChunkedDecoder chunks;
  TimePoint body_started;         // Since then its sender is waited for,
  Duration body_waited{};         // having been waited for so long before.
  bool body_is_done = true;       // All of it has been received.
  bool is_streamed = false;       // The handler reads it.
  bool expects_continue = false;  // The client waits to be told to send it.
  int body_failure = 0;           // The status that says what is wrong with it; 0: nothing.
  const char* body_failure_reason = "";
  Error body_error{Errc::closed};
  Buffer lent;                 // Streamed: what the handler is given parts of.
  std::size_t lent_bytes = 0;  // The front of it that take_body() gave or that is framing.
  std::optional<std::string_view> piece;  // To be taken.
  runtime::Waiter* body_waiter = nullptr;

  // The response's body.
  bool is_answered = false;  // The response is written, but for what is sent in place.
  bool sends_file = false;   // More of it is to be read.
  bool is_chunked = false;
  bool has_chunks = false;  // One was written.
  bool stream_has_begun = false;
  bool stream_failed = false;
  bool write_cancelled = false;                    // While bytes lent to us were being sent.
  std::optional<std::uint64_t> stream_bytes_left;  // If a length was announced.
  runtime::Waiter* room_waiter = nullptr;

 private:
  enum class Stage : std::uint8_t { handler, stream };
  void run_on_a_fiber();
  void call_on_fiber() noexcept;
  void take_task_result() noexcept;
  void after_handler();
  void call_stream() noexcept;
  void start_stream();
  std::optional<BodyReader> reader_;
  std::optional<BodyWriter> writer_;
  Handler* handler_ = nullptr;
  Connection* connection_ = nullptr;
  Stage stage_ = Stage::handler;
  runtime::Activity* fiber_activity_ = nullptr;  // While it runs on a fiber.
  std::optional<Task<Response>> task_;
  std::optional<Task<Result<void>>> stream_task_;
};

}  // namespace sennit::http::detail
