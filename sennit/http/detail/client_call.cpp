#include "sennit/http/detail/client_call.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "sennit/http/detail/redirect.hpp"
#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::http::detail {
namespace {

// Read of an answer that leads elsewhere, to keep its connection; what is longer costs more to read
// than a new connection.
constexpr std::size_t discarded_bytes_max = std::size_t{64} * 1024;

// Counts a call on its origin for as long as it may use it.
class OriginUse {
 public:
  explicit OriginUse(Origin& origin) : origin_(origin) { ++origin_.call_count; }
  ~OriginUse() { --origin_.call_count; }
  OriginUse(const OriginUse&) = delete;
  OriginUse& operator=(const OriginUse&) = delete;

 private:
  Origin& origin_;
};

metrics::Outcome outcome_of(const ClientResult& result) {
  if (result) {
    const auto code = static_cast<unsigned>(result->status());
    if (code >= 500) return metrics::Outcome::server_error;
    return code >= 400 ? metrics::Outcome::client_error : metrics::Outcome::ok;
  }
  switch (result.error().code()) {
    case Errc::timed_out:
      return metrics::Outcome::timed_out;
    case Errc::cancelled:
      return metrics::Outcome::cancelled;
    case Errc::limit_reached:
      return metrics::Outcome::rejected;
    default:
      return metrics::Outcome::server_error;
  }
}

// What may go better another time.
bool is_transient(Errc code) {
  switch (code) {
    case Errc::timed_out:
    case Errc::closed:
    case Errc::connection_reset:
    case Errc::connection_refused:
    case Errc::unreachable:
      return true;
    default:
      return false;
  }
}

bool is_overloaded(Status status) {
  return status == Status::too_many_requests || status == Status::bad_gateway ||
         status == Status::service_unavailable || status == Status::gateway_timeout;
}

// Seconds only; a date would need the server's clock to be right.
Duration retry_after(const Headers& headers) {
  const std::string_view text = headers.get("Retry-After").value_or("");
  unsigned seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? Duration(std::chrono::seconds(seconds)) : Duration::zero();
}

}  // namespace

ClientCall::ClientCall(ClientState& state, std::string_view method, std::string_view url)
    : redirects_max(state.options.redirects_max),
      body_bytes_max(state.options.body_bytes_max),
      state_(state),
      url_(Url::parse(url)),
      method_(method_from_string(method)),
      method_name_(method) {
  if (method_ == Method::connect) {
    bad_description_ = Error(Errc::unsupported, "open a tunnel with CONNECT");
  }
}

void ClientCall::add_header(std::string_view name, std::string_view value) {
  if (auto added = headers_.add(name, value); !added && !bad_description_) {
    bad_description_ = std::move(added).error();
  }
}

std::unexpected<ClientError> ClientCall::fail(Phase phase, Error error) const {
  return std::unexpected(ClientError(phase, std::move(error), tries_));
}

Task<ClientResult> ClientCall::run() {
  if (!url_) co_return fail(Phase::prepare, url_.error());
  if (bad_description_) co_return fail(Phase::prepare, *bad_description_);
  const Clock& clock = state_.worker.clock();
  deadline = std::min(deadline, Deadline::after(timeout.value_or(state_.options.deadline), clock));
  if (const Activity* const caller = Activity::current(); caller != nullptr) {
    deadline = std::min(deadline, caller->deadline());
  }
  const ClientOptions& options = state_.options;
  if (!options.user_agent.empty() && !headers_.contains("User-Agent")) {
    add_header("User-Agent", options.user_agent);
  }
  // A range of an encoded body is of no use to anybody.
  is_raw = is_raw || !options.decompress || headers_.contains("Range");
  if (!is_raw && !headers_.contains("Accept-Encoding")) {
    add_header("Accept-Encoding", "gzip, zstd");
  }
  if (bad_description_) co_return fail(Phase::prepare, *bad_description_);
  ClientResult result = co_await follow();
  co_return result;
}

Task<ClientResult> ClientCall::follow() {
  Url url = *url_;
  for (;;) {
    const Result<Origin*> origin = state_.origin(url);
    if (!origin) co_return fail(Phase::prepare, origin.error());
    const OriginUse use(**origin);
    ClientResult result = co_await ask(url, **origin);
    if (!result) {
      result.error().set_tries(tries_);
      co_return result;
    }
    result->tries_ = tries_;
    result->redirects_ = redirects_;
    result->url_ = url.to_string();
    if (!leads_elsewhere(result->status(), result->headers())) co_return result;
    Result<Url> next = redirected(url, result);
    if (!next) co_return fail(Phase::redirect, std::move(next).error());
    url = *std::move(next);
  }
}

bool ClientCall::leads_elsewhere(Status status, const Headers& headers) const {
  if (redirects_max == 0 || !is_redirect(status) || !headers.contains("Location")) return false;
  // What was streamed up cannot be sent again; its user is told.
  return !source || becomes_get(status, method_);
}

Result<Url> ClientCall::redirected(const Url& from, const ClientResult& answer) {
  if (++redirects_ > redirects_max) {
    return failure(Errc::limit_reached, "follow that many redirects");
  }
  SENNIT_TRY(Url to, from.resolve(answer->headers().get("Location").value_or("")));
  const bool loses_body = becomes_get(answer->status(), method_);
  if (loses_body) {
    method_ = Method::get;
    method_name_ = "GET";
    body.reset();
    source = nullptr;
    expects_continue = false;
  }
  headers_ = redirected_headers(headers_, from, to, loses_body);
  return to;
}

bool ClientCall::can_resend() const {
  return (is_idempotent || detail::is_idempotent(method_)) && !source;
}

bool ClientCall::wants_retry(const ClientResult& result) const {
  if (result) return is_overloaded(result->status()) && can_resend();
  if (!is_transient(result.error().code())) return false;
  const Phase phase = result.error().phase();
  const bool was_sent = phase >= Phase::send;
  return was_sent ? can_resend() : phase == Phase::resolve || phase == Phase::connect;
}

Duration ClientCall::pause_before(const ClientResult& result, service::Backoff& backoff) const {
  const Duration pause = backoff.next(state_.worker.random());
  return result ? std::max(pause, retry_after(result->headers())) : pause;
}

Task<ClientResult> ClientCall::ask(const Url& url, Origin& origin) {
  service::Backoff backoff(state_.options.backoff);
  origin.budget.on_call();
  bool fresh = false;
  for (unsigned retried = 0;;) {
    ClientResult result = co_await measured_attempt(url, origin, fresh);
    if (!result && may_be_stale_ && was_reused_ && can_resend()) {
      fresh = true;  // So this happens once.
      continue;
    }
    if (retried >= retries || !wants_retry(result)) co_return result;
    const TimePoint now = state_.worker.clock().now();
    const Duration pause = pause_before(result, backoff);
    if (deadline.remaining(now) <= pause || !origin.budget.take(now)) co_return result;
    ++retried;
    const Result<void> rested = co_await runtime::sleep_for(pause);
    if (!rested) co_return fail(result ? Phase::prepare : result.error().phase(), rested.error());
  }
}

Task<ClientResult> ClientCall::measured_attempt(const Url& url, Origin& origin, bool fresh) {
  ++tries_;
  was_reused_ = may_be_stale_ = false;
  const TimePoint begun = state_.worker.clock().now();
  if (origin.cells) origin.cells->begin();
  ClientResult result = co_await attempt(url, origin, fresh);
  if (origin.cells) {
    origin.cells->end(state_.worker.clock().now() - begun, outcome_of(result));
  }
  co_return result;
}

WireRequest ClientCall::wire_request(const Url& url) {
  WireRequest request;
  request.method = method_;
  request.method_name = method_name_;
  request.target = url.target();
  request.authority = url.authority();
  request.headers = &headers_;
  request.body = body;
  request.source = source ? &source : nullptr;
  request.source_bytes = source_bytes;
  request.expects_continue = expects_continue && (body != nullptr || source);
  request.continue_timeout = state_.options.continue_timeout;
  return request;
}

Task<std::expected<service::Lease, ClientError>> ClientCall::connection(const Url& url,
                                                                        Origin& origin, bool fresh,
                                                                        Deadline until) {
  Result<service::Lease> lease = co_await origin.pool.acquire(until, fresh);
  if (!lease) co_return fail(Phase::pool, std::move(lease).error());
  if (lease->get() == nullptr) {
    Connected made = co_await state_.connect(url, origin, until);
    if (!made) co_return fail(made.error().phase, std::move(made.error().error));
    lease->attach(std::make_unique<ClientWire>(*std::move(made)));
  }
  co_return *std::move(lease);
}

Task<ClientResult> ClientCall::attempt(const Url& url, Origin& origin, bool fresh) {
  const Deadline until = std::min(deadline, Deadline::after(try_timeout, state_.worker.clock()));
  std::expected<service::Lease, ClientError> lease = co_await connection(url, origin, fresh, until);
  if (!lease) co_return std::unexpected(std::move(lease).error());
  was_reused_ = lease->is_reused();
  auto& wire = static_cast<ClientWire&>(*lease->get());
  const WireRequest request = wire_request(url);
  WireLimits limits;
  limits.head = state_.options.head_limits;
  limits.interim_max = state_.options.interim_max;
  WireResult exchanged = co_await wire.exchange(request, limits, until);
  if (!exchanged) {
    WireError& error = exchanged.error();
    may_be_stale_ = error.may_be_stale;
    co_return fail(error.phase, std::move(error.error));
  }
  ClientResult result = co_await receive(*std::move(lease), until);
  co_return result;
}

Task<ClientResult> ClientCall::receive(service::Lease lease, Deadline until) {
  auto& wire = static_cast<ClientWire&>(*lease.get());
  ClientResponse response;
  response.status_ = wire.status();
  response.headers_ = wire.take_headers();
  response.was_reused_ = was_reused_;
  ContentCoding coding = ContentCoding::identity;
  if (!is_raw && wire.body_kind() != h1::Body::none) {
    const std::string_view name = response.headers_.get("Content-Encoding").value_or("");
    coding = content_coding_from_name(name).value_or(ContentCoding::identity);
  }
  if (coding != ContentCoding::identity) {
    response.headers_.remove("Content-Encoding");
    response.headers_.remove("Content-Length");
  }
  auto reader =
      std::make_unique<ResponseBody>(std::move(lease), coding, state_.options.decode_limits, until);
  if (leads_elsewhere(response.status_, response.headers_)) {
    co_await reader->discard(discarded_bytes_max);
  } else if (is_streamed) {
    response.stream_ = std::move(reader);
  } else {
    auto read = co_await reader->read_all(body_bytes_max);
    if (!read) co_return std::unexpected(std::move(read).error());
    response.body_ = *std::move(read);
  }
  co_return response;
}

}  // namespace sennit::http::detail
