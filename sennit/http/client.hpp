#pragma once
// Client: calls over HTTP/1.1.
//
//   http::Client client;                                              // On a worker.
//   http::ClientResult r = wait(client.get("http://example.org/").deadline(200ms).retry(2));
//   if (!r) log::warning("{}", r.error().to_string());                // Says in which phase.
//   else use(r->status(), r->body());
//
// A call is an awaitable: wait(call) on a fiber, co_await call in a coroutine. Nothing happens
// before that. It keeps to its deadline whatever the server does, and to that of the activity it
// runs in (runtime/activity.hpp); cancelling the activity ends it.
//
// Connections are kept and shared by origin (service/pool.hpp). A call that finds a connection
// closed by the server, without a byte of an answer, is made again on a new one, once, if it may
// be. retry(n) repeats up to n times what failed on the way or was answered 429, 502, 503 or 504,
// with back-off and within a budget for each origin; only methods that are safe to repeat (RFC
// 9110, 9.2.2), unless nothing had been sent yet. Redirects are followed; credentials stay within
// their origin. Bodies in gzip and zstd are asked for and decompressed, within limits.
//
// Thread safety: none; a Client belongs to the worker it was made on, is destroyed there, and
// outlives its calls and streamed responses.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/time.hpp"
#include "sennit/http/body_decoder.hpp"
#include "sennit/http/client_error.hpp"
#include "sennit/http/client_response.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/method.hpp"
#include "sennit/metrics/registry.hpp"
#include "sennit/net/resolver.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/service/backoff.hpp"
#include "sennit/service/outlier.hpp"
#include "sennit/service/pool.hpp"
#include "sennit/service/retry_budget.hpp"

namespace sennit::http {

namespace detail {
class ClientCall;
struct ClientState;
}  // namespace detail

class ClientOptions {
 public:
  ClientOptions() {}  // Not an aggregate: GCC 12 destroys those twice in a co_await expression.

  /// Of a call that sets none.
  Duration deadline = std::chrono::seconds(30);
  Duration connect_timeout = std::chrono::seconds(5);   // Of all addresses of a host together.
  Duration continue_timeout = std::chrono::seconds(1);  // With Expect: then the body is sent.

  service::PoolOptions pool;  // Of each origin.
  std::size_t origins_max = 1000;
  service::BackoffOptions backoff;
  service::RetryBudgetOptions retry_budget;  // Of each origin.
  service::OutlierOptions outliers;          // Among the addresses of a host.
  net::ResolverOptions resolver;

  unsigned redirects_max = 10;                                 // 0: answers of 3xx are returned.
  std::size_t body_bytes_max = std::size_t{16} * 1024 * 1024;  // Of a whole one, decompressed.
  h1::Limits head_limits;
  unsigned interim_max = 16;  // Answers of 1xx before the final one.
  bool decompress = true;
  DecodeLimits decode_limits;
  std::string user_agent = "sennit";  // Empty: none is sent.

  /// Where calls are counted, by origin: http_client_requests_total and the other golden signals,
  /// as each try of a call sees them. Must outlive the client; its slots must cover the worker.
  metrics::Registry* registry = nullptr;
};

class Client {
 public:
  class Call;
  /// The next piece of a body that is streamed up; empty at its end. A piece is asked for when the
  /// one before was taken by the network; the view must be good until then.
  using BodySource = std::function<Task<Result<std::string_view>>()>;

  explicit Client(const ClientOptions& options = ClientOptions());
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] Call get(std::string_view url);
  [[nodiscard]] Call head(std::string_view url);
  [[nodiscard]] Call del(std::string_view url);
  [[nodiscard]] Call post(std::string_view url, std::string body);
  [[nodiscard]] Call put(std::string_view url, std::string body);
  [[nodiscard]] Call patch(std::string_view url, std::string body);
  /// Any method but CONNECT.
  [[nodiscard]] Call request(std::string_view method, std::string_view url);

  /// Of all origins: connections open, and those of them idle.
  [[nodiscard]] std::size_t open_count() const;
  [[nodiscard]] std::size_t idle_count() const;
  [[nodiscard]] net::Resolver& resolver();

 private:
  std::unique_ptr<detail::ClientState> state_;
};

/// One call, being described and then waited for; once. What is wrong with the description is an
/// error of phase prepare.
class Client::Call {
 public:
  static constexpr const char* waits_for = "an HTTP call";

  Call(Call&& other) noexcept;
  Call& operator=(Call&&) = delete;
  ~Call();

  Call&& header(std::string_view name, std::string_view value) &&;
  Call&& body(std::string body) &&;
  /// Sent in chunks, or in `bytes` exactly if given. Such a call is not repeated once it was sent.
  Call&& body_stream(BodySource source, std::optional<std::uint64_t> bytes = std::nullopt) &&;
  /// The body is sent when the server has asked for it, or has said nothing for a while.
  Call&& expect_continue() &&;

  /// Of the whole call with retries and redirects; for a streamed response also of its body.
  /// Counts from when it is waited for.
  Call&& deadline(Duration timeout) &&;
  Call&& deadline(Deadline deadline) &&;
  /// Of each try.
  Call&& try_timeout(Duration timeout) &&;
  Call&& retry(unsigned times) &&;
  /// This call may be repeated whatever its method.
  Call&& idempotent() &&;
  Call&& redirects(unsigned most) &&;

  Call&& body_bytes_max(std::size_t bytes) &&;
  /// The response comes when its head is there, and its body is read with read().
  Call&& stream() &&;
  /// Neither asks for nor takes off compression.
  Call&& raw() &&;

  bool ready() { return false; }
  bool start(runtime::Waiter& waiter);
  ClientResult take();

 private:
  friend class Client;
  explicit Call(std::unique_ptr<detail::ClientCall> call);
  std::unique_ptr<detail::ClientCall> call_;
  std::optional<Task<ClientResult>> task_;
};

}  // namespace sennit::http
