#include "sennit/http/testing/raw_server.hpp"

#include <charconv>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sennit/base/assert.hpp"

namespace sennit::http::testing {
namespace {

constexpr std::string_view head_end = "\r\n\r\n";

std::size_t announced_length(std::string_view head) {
  constexpr std::string_view name = "Content-Length: ";
  const std::size_t at = head.find(name);
  std::size_t length = 0;
  if (at != std::string_view::npos) {
    std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
  }
  return length;
}

int bind_to_loopback(std::uint16_t& port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  SENNIT_ASSERT(descriptor >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  SENNIT_ASSERT(::bind(descriptor, any, size) == 0);
  SENNIT_ASSERT(::getsockname(descriptor, any, &size) == 0);
  port = ntohs(address.sin_port);
  return descriptor;
}

std::string url_of(std::uint16_t port, std::string_view target) {
  return "http://127.0.0.1:" + std::to_string(port) + std::string(target);
}

}  // namespace

bool RawPeer::receive() {
  char bytes[16 * 1024];
  const ssize_t got = ::recv(descriptor_, bytes, sizeof bytes, 0);
  if (got > 0) received_.append(bytes, static_cast<std::size_t>(got));
  return got > 0;
}

bool RawPeer::read_head() {
  std::size_t end = 0;
  while ((end = received_.find(head_end)) == std::string::npos) {
    if (!receive()) return false;
  }
  head_ = received_.substr(0, end + head_end.size());
  received_.erase(0, head_.size());
  body_.clear();
  return true;
}

std::size_t RawPeer::read_body(std::size_t bytes) {
  while (received_.size() < bytes && receive()) {
  }
  body_ = received_.substr(0, bytes);
  received_.erase(0, body_.size());
  return body_.size();
}

bool RawPeer::read_request() {
  if (!read_head()) return false;
  const std::size_t length = announced_length(head_);
  return read_body(length) == length;
}

bool RawPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawPeer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void RawPeer::wait_for_end() {
  while (receive()) received_.clear();
}

RawServer::RawServer(Script script, unsigned threads, int backlog)
    : script_(std::move(script)), listener_(bind_to_loopback(port_)), connections_(threads) {
  SENNIT_ASSERT(::listen(listener_, backlog) == 0);
  for (std::atomic<int>& connection : connections_) {
    connection = -1;
    threads_.emplace_back([this, &connection] { serve(connection); });
  }
}

RawServer::~RawServer() {
  is_ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  for (const std::atomic<int>& connection : connections_) {
    if (const int descriptor = connection; descriptor >= 0) ::shutdown(descriptor, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  for (const std::atomic<int>& connection : connections_) {
    if (const int descriptor = connection; descriptor >= 0) ::close(descriptor);
  }
  ::close(listener_);
}

// A descriptor is replaced in its place before it is closed, so that the destructor never shuts
// down one that has been reused.
void RawServer::serve(std::atomic<int>& connection) {
  while (!is_ending_) {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) continue;
    ++connection_count_;
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection = descriptor;
    RawPeer peer(descriptor);
    if (!is_ending_) script_(peer);
    if (is_ending_) return;  // The destructor closes it, once it has joined us.
    connection = -1;
    ::close(descriptor);
  }
}

std::string RawServer::url(std::string_view target) const { return url_of(port_, target); }

std::string refusing_url() {
  std::uint16_t port = 0;
  ::close(bind_to_loopback(port));
  return url_of(port, "/");
}

}  // namespace sennit::http::testing
