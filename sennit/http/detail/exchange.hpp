#pragma once
// Exchange: one request being received and answered. Borrowed from the worker's pool when a head is
// complete, returned when its response is written, so that an idle connection holds none.

#include <optional>

#include "sennit/http/h1/chunked.hpp"
#include "sennit/http/handler.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/response.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::http::detail {

class Connection;

class Exchange : public runtime::FiberJob, public runtime::Waiter {
 public:
  explicit Exchange(runtime::Worker& worker);

  /// Runs the handler, on a fiber or as a coroutine. Connection::handled() is called when it has
  /// ended, which may be before this returns.
  void run(Handler& handler, Connection& connection);
  /// Empties it for the pool.
  void reset();

  Request request;
  Response response;
  /// What of the request's body is still to come: bytes if its length was declared.
  std::uint64_t body_bytes_left = 0;
  h1::ChunkedDecoder chunks;
  h1::Body body = h1::Body::none;

 private:
  void call_plain() noexcept;
  void take_task_result() noexcept;

  Handler* handler_ = nullptr;
  Connection* connection_ = nullptr;
  std::optional<Task<Response>> task_;
};

}  // namespace sennit::http::detail
