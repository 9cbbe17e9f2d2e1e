#pragma once
// BodyChannel: what a connection offers to the handler of a request whose bodies flow. HTTP/1.1's
// Connection is one; tests have their own.
//
// Rules:
// 1. A side waits for one thing at a time. It asks first (has_body, write) and waits only if told
//    no; the waiter is then woken once.
// 2. stop_waiting() takes a waiter back; it tells whether the waiter had not been woken yet.
// 3. All on the connection's worker.

#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::http::detail {

class BodyChannel {
 public:
  /// Bytes, the end or a failure are there to be taken.
  virtual bool has_body() = 0;
  virtual void wait_for_body(runtime::Waiter& waiter) = 0;
  [[nodiscard]] virtual bool stop_waiting_for_body() = 0;
  /// Requires that has_body() was true. Empty at the end; lent until the next call of has_body().
  virtual Result<std::string_view> take_body() = 0;

  /// Takes the bytes; false if the writer has to wait before it goes on, and must keep them until
  /// then.
  virtual bool write(std::string_view bytes) = 0;
  virtual void wait_for_room(runtime::Waiter& waiter) = 0;
  /// Also gives up the answer if bytes were still to be sent from where they are.
  [[nodiscard]] virtual bool stop_waiting_for_room() = 0;
  /// Whether what was written so far is on its way.
  virtual Result<void> write_result() = 0;

 protected:
  ~BodyChannel() = default;
};

}  // namespace sennit::http::detail
