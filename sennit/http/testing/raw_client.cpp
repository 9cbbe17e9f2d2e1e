#include "sennit/http/testing/raw_client.hpp"

#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace sennit::http::testing {
namespace {

constexpr std::string_view head_end = "\r\n\r\n";

// 0 if there is none, which no test expects.
std::size_t leading_number(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::size_t content_length(std::string_view head) {
  constexpr std::string_view name = "\r\nContent-Length: ";
  const std::size_t at = head.find(name);
  return at == std::string_view::npos ? 0 : leading_number(head.substr(at + name.size()));
}

}  // namespace

RawClient::RawClient(std::uint16_t port) {
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(std::exchange(descriptor_, -1));
  }
}

RawClient::RawClient(RawClient&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), received_(std::move(other.received_)) {}

RawClient::~RawClient() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::send_byte_by_byte(std::string_view bytes) {
  for (const char byte : bytes) {
    if (!send({&byte, 1})) return false;
  }
  return true;
}

void RawClient::half_close() { ::shutdown(descriptor_, SHUT_WR); }

void RawClient::reset() {
  const linger abrupt{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
  ::close(std::exchange(descriptor_, -1));
}

bool RawClient::receive() {
  char room[16 * 1024];
  ssize_t bytes = 0;
  do {
    bytes = ::recv(descriptor_, room, sizeof room, 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return false;
  received_.append(room, static_cast<std::size_t>(bytes));
  return true;
}

std::string RawClient::response(bool to_head_request) {
  std::size_t end = received_.find(head_end);
  while (end == std::string::npos) {
    if (!receive()) return std::exchange(received_, {});
    end = received_.find(head_end);
  }
  std::size_t bytes = end + head_end.size();
  if (!to_head_request) bytes += content_length(std::string_view(received_).substr(0, end + 2));
  while (received_.size() < bytes) {
    if (!receive()) return std::exchange(received_, {});
  }
  std::string whole = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return whole;
}

std::string RawClient::read_to_end() {
  while (receive()) {
  }
  return std::exchange(received_, {});
}

bool RawClient::is_ended() {
  if (!received_.empty()) return false;
  char byte = 0;
  const ssize_t bytes = ::recv(descriptor_, &byte, 1, 0);
  if (bytes > 0) received_.push_back(byte);
  return bytes == 0 || (bytes < 0 && errno == ECONNRESET);
}

int status_of(std::string_view response) {
  return response.size() < 12 ? 0 : static_cast<int>(leading_number(response.substr(9, 3)));
}

std::string_view body_of(std::string_view response) {
  const std::size_t end = response.find(head_end);
  return end == std::string_view::npos ? std::string_view()
                                       : response.substr(end + head_end.size());
}

}  // namespace sennit::http::testing
