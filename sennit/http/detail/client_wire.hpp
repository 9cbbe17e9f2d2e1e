#pragma once
// ClientWire: one connection of the client, as HTTP/1.1 sees it: requests out, heads in.
//
// Rules:
// 1. An answer may come at any time, also while the request is still being sent; both directions
// are
//    waited for at once. A final answer ends the sending of what is not with the kernel yet, and
//    the connection is not used again unless all was sent.
// 2. Interim answers (1xx) are skipped, at most interim_max of them; 101 is an error, as nobody
//    asked for another protocol.
// 3. A head is parsed again only when it has doubled or when an empty line has come, so that one
//    that drips costs linear time.
//
// Thread safety: none.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sennit/http/client_error.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/http/method.hpp"
#include "sennit/http/status.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/service/connection.hpp"
#include "sennit/service/pool.hpp"

namespace sennit::http::detail {

/// The next piece of a body that is streamed up: empty at its end. The view is used before the next
/// call.
using BodySource = std::function<Task<Result<std::string_view>>()>;

struct WireRequest {
  Method method = Method::get;
  std::string_view method_name;
  std::string_view target;
  std::string_view authority;
  const Headers* headers = nullptr;
  std::shared_ptr<const std::string> body;  // Null: none.
  BodySource* source = nullptr;             // Null: none.
  std::optional<std::uint64_t> source_bytes;
  bool expects_continue = false;
  Duration continue_timeout = std::chrono::seconds(1);
};

struct WireLimits {
  h1::Limits head;
  unsigned interim_max = 16;
};

/// What a try came to, if not to an answer.
struct WireError {
  Phase phase;
  Error error;
  /// The peer closed or reset without a byte of an answer: on a connection that had been idle, the
  /// server most likely closed it before it saw the request.
  bool may_be_stale = false;
};
using WireResult = std::expected<void, WireError>;

class ClientWire final : public service::Pooled {
 public:
  explicit ClientWire(service::Connection connection) : connection_(std::move(connection)) {}

  bool start_idling(service::Pool& pool) override;
  void stop_idling() override { connection_.stop_idling(); }

  /// Sends the request and reads the answer's head, which is consumed.
  Task<WireResult> exchange(const WireRequest& request, const WireLimits& limits,
                            Deadline deadline);

  // --- The answer, once exchange() has succeeded ---------------------------------------------

  [[nodiscard]] Status status() const { return static_cast<Status>(head_.status); }
  [[nodiscard]] h1::Body body_kind() const { return head_.body; }
  [[nodiscard]] std::uint64_t content_length() const { return head_.content_length; }
  [[nodiscard]] Headers take_headers() { return std::move(headers_); }
  [[nodiscard]] service::Connection& connection() { return connection_; }
  /// Both sides allow another request and nothing is left over from this one.
  [[nodiscard]] bool is_reusable() const;

 private:
  enum class HeadState : unsigned char { partial, interim, complete };
  Result<void> write_head(const WireRequest& request, bool is_chunked);
  Task<WireResult> send_request(const WireRequest& request, const WireLimits& limits,
                                Deadline deadline);
  Task<WireResult> send_source(const WireRequest& request, const WireLimits& limits,
                               bool is_chunked, Deadline deadline);
  Task<WireResult> await_continue(const WireRequest& request, const WireLimits& limits,
                                  Deadline deadline);
  Task<WireResult> drain_output(const WireLimits& limits, Deadline deadline);
  Task<WireResult> read_head(const WireLimits& limits, Deadline deadline);
  Result<HeadState> look(const WireLimits& limits);
  void keep_headers();
  [[nodiscard]] WireError broken(Phase phase) const;

  service::Connection connection_;
  h1::ResponseHead head_;
  Headers headers_;
  Method method_ = Method::get;
  std::size_t looked_at_ = 0;  // Bytes of the head that the parser has seen.
  std::size_t scanned_ = 0;    // Bytes searched for the empty line.
  unsigned interim_count_ = 0;
  bool has_answer_ = false;  // A final head was parsed.
  bool has_continue_ = false;
  bool all_sent_ = false;
  bool saw_bytes_ = false;
};

}  // namespace sennit::http::detail
