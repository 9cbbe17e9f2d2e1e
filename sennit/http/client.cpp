#include "sennit/http/client.hpp"

#include "sennit/base/assert.hpp"
#include "sennit/http/detail/client_call.hpp"

namespace sennit::http {

ClientResponse::ClientResponse() = default;
ClientResponse::~ClientResponse() = default;
ClientResponse::ClientResponse(ClientResponse&& other) noexcept = default;
ClientResponse& ClientResponse::operator=(ClientResponse&& other) noexcept = default;

Task<std::expected<std::size_t, ClientError>> ClientResponse::read(std::span<char> room) {
  SENNIT_ASSERT(stream_ != nullptr && "read() is for a call with stream()");
  return stream_->read(room);
}

Client::Client(const ClientOptions& options)
    : state_(std::make_unique<detail::ClientState>(options)) {}
Client::~Client() = default;

Client::Call Client::request(std::string_view method, std::string_view url) {
  return Call(std::make_unique<detail::ClientCall>(*state_, method, url));
}
Client::Call Client::get(std::string_view url) { return request("GET", url); }
Client::Call Client::head(std::string_view url) { return request("HEAD", url); }
Client::Call Client::del(std::string_view url) { return request("DELETE", url); }
Client::Call Client::post(std::string_view url, std::string body) {
  return request("POST", url).body(std::move(body));
}
Client::Call Client::put(std::string_view url, std::string body) {
  return request("PUT", url).body(std::move(body));
}
Client::Call Client::patch(std::string_view url, std::string body) {
  return request("PATCH", url).body(std::move(body));
}

std::size_t Client::open_count() const {
  std::size_t total = 0;
  for (const auto& [name, origin] : state_->origins) total += origin->pool.open_count();
  return total;
}
std::size_t Client::idle_count() const {
  std::size_t total = 0;
  for (const auto& [name, origin] : state_->origins) total += origin->pool.idle_count();
  return total;
}
net::Resolver& Client::resolver() { return state_->resolver; }

Client::Call::Call(std::unique_ptr<detail::ClientCall> call) : call_(std::move(call)) {}
Client::Call::Call(Call&& other) noexcept = default;
Client::Call::~Call() = default;

Client::Call&& Client::Call::header(std::string_view name, std::string_view value) && {
  call_->add_header(name, value);
  return std::move(*this);
}
Client::Call&& Client::Call::body(std::string body) && {
  call_->body = std::make_shared<const std::string>(std::move(body));
  return std::move(*this);
}
Client::Call&& Client::Call::body_stream(BodySource source, std::optional<std::uint64_t> bytes) && {
  call_->source = std::move(source);
  call_->source_bytes = bytes;
  return std::move(*this);
}
Client::Call&& Client::Call::expect_continue() && {
  call_->expects_continue = true;
  return std::move(*this);
}
Client::Call&& Client::Call::deadline(Duration timeout) && {
  call_->timeout = timeout;
  return std::move(*this);
}
Client::Call&& Client::Call::deadline(Deadline deadline) && {
  call_->deadline = deadline;
  if (!call_->timeout) call_->timeout = Duration::max();  // Instead of the client's own.
  return std::move(*this);
}
Client::Call&& Client::Call::try_timeout(Duration timeout) && {
  call_->try_timeout = timeout;
  return std::move(*this);
}
Client::Call&& Client::Call::retry(unsigned times) && {
  call_->retries = times;
  return std::move(*this);
}
Client::Call&& Client::Call::idempotent() && {
  call_->is_idempotent = true;
  return std::move(*this);
}
Client::Call&& Client::Call::redirects(unsigned most) && {
  call_->redirects_max = most;
  return std::move(*this);
}
Client::Call&& Client::Call::body_bytes_max(std::size_t bytes) && {
  call_->body_bytes_max = bytes;
  return std::move(*this);
}
Client::Call&& Client::Call::stream() && {
  call_->is_streamed = true;
  return std::move(*this);
}
Client::Call&& Client::Call::raw() && {
  call_->is_raw = true;
  return std::move(*this);
}

bool Client::Call::start(runtime::Waiter& waiter) {
  SENNIT_ASSERT(!task_ && "a call is made once");
  task_.emplace(call_->run());
  return task_->start(waiter);
}

ClientResult Client::Call::take() { return task_->take(); }

}  // namespace sennit::http
