#pragma once
// ClientCall: one call of the client, with its redirects, retries and tries.
//
//   run       deadline, then follow()
//   follow    ask(), and again where a redirect leads
//   ask       attempt(), and again as retries and the budget allow
//   attempt   a connection, the request, the answer
//
// Thread safety: none.

#include <memory>
#include <optional>
#include <string>

#include "sennit/http/client.hpp"
#include "sennit/http/detail/client_state.hpp"
#include "sennit/http/detail/response_body.hpp"
#include "sennit/http/url.hpp"
#include "sennit/service/backoff.hpp"

namespace sennit::http::detail {

class ClientCall {
 public:
  ClientCall(ClientState& state, std::string_view method, std::string_view url);

  Task<ClientResult> run();

  // What Client::Call sets.
  void add_header(std::string_view name, std::string_view value);
  std::shared_ptr<const std::string> body;
  BodySource source;
  std::optional<std::uint64_t> source_bytes;
  std::optional<Duration> timeout;
  Deadline deadline;
  Duration try_timeout = Duration::max();
  unsigned retries = 0;
  unsigned redirects_max;
  std::size_t body_bytes_max;
  bool expects_continue = false;
  bool is_idempotent = false;
  bool is_streamed = false;
  bool is_raw = false;

 private:
  Task<ClientResult> follow();
  Task<ClientResult> ask(const Url& url, Origin& origin);
  Task<ClientResult> attempt(const Url& url, Origin& origin, bool fresh);
  Task<ClientResult> measured_attempt(const Url& url, Origin& origin, bool fresh);
  Task<std::expected<service::Lease, ClientError>> connection(const Url& url, Origin& origin,
                                                              bool fresh, Deadline until);
  Task<ClientResult> receive(service::Lease lease, Deadline until);
  [[nodiscard]] Result<Url> redirected(const Url& from, const ClientResult& answer);
  [[nodiscard]] WireRequest wire_request(const Url& url);
  [[nodiscard]] bool leads_elsewhere(Status status, const Headers& headers) const;
  [[nodiscard]] bool can_resend() const;
  [[nodiscard]] bool wants_retry(const ClientResult& result) const;
  [[nodiscard]] Duration pause_before(const ClientResult& result, service::Backoff& backoff) const;
  [[nodiscard]] std::unexpected<ClientError> fail(Phase phase, Error error) const;

  ClientState& state_;
  const Result<Url> url_;
  Method method_;
  std::string method_name_;
  Headers headers_;
  std::optional<Error> bad_description_;
  unsigned tries_ = 0;
  unsigned redirects_ = 0;
  // Of the last attempt:
  bool was_reused_ = false;
  bool may_be_stale_ = false;
};

}  // namespace sennit::http::detail
