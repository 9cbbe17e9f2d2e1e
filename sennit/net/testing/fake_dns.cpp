#include "sennit/net/testing/fake_dns.hpp"

#include <algorithm>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sennit/base/assert.hpp"

namespace sennit::net::testing {
namespace {

constexpr std::size_t header_bytes = 12;

void put16(std::string& out, unsigned value) {
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value));
}

unsigned byte_at(const std::string& packet, std::size_t at) {
  return at < packet.size() ? static_cast<unsigned char>(packet[at]) : 0U;
}

}  // namespace

DnsQuery::DnsQuery(std::string packet) : packet_(std::move(packet)) {
  std::size_t at = header_bytes;
  while (at < packet_.size() && packet_[at] != 0) {
    const std::size_t length = byte_at(packet_, at);
    if (!name_.empty()) name_ += '.';
    name_ += packet_.substr(at + 1, length);
    at += 1 + length;
  }
  type_ = static_cast<std::uint16_t>(byte_at(packet_, at + 1) << 8 | byte_at(packet_, at + 2));
  question_end_ = std::min(at + 5, packet_.size());
}

std::string DnsQuery::head(int code, std::size_t answer_count) const {
  std::string out = packet_.substr(0, 2);  // The identifier.
  put16(out, 0x8180U | static_cast<unsigned>(code));
  put16(out, 1);
  put16(out, static_cast<unsigned>(answer_count));
  put16(out, 0);
  put16(out, 0);
  return out + packet_.substr(header_bytes, question_end_ - header_bytes);
}

std::string DnsQuery::answer(const std::vector<std::string>& records, std::uint32_t ttl) const {
  std::string out = head(0, records.size());
  for (const std::string& data : records) {
    put16(out, 0xc000U | header_bytes);  // The name is that of the question.
    put16(out, type_);
    put16(out, 1);
    put16(out, ttl >> 16);
    put16(out, ttl & 0xffff);
    put16(out, static_cast<unsigned>(data.size()));
    out += data;
  }
  return out;
}

std::string DnsQuery::refuse(int code) const { return head(code, 0); }

FakeDns::FakeDns(Answer answer) : answer_(std::move(answer)) {
  socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  SENNIT_ASSERT(::bind(socket_, any, size) == 0);
  SENNIT_ASSERT(::getsockname(socket_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

FakeDns::~FakeDns() {
  is_ending_ = true;
  const int waker = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port_);
  ::sendto(waker, "", 1, 0, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::close(waker);
  thread_.join();
  ::close(socket_);
}

std::string FakeDns::address() const { return "127.0.0.1:" + std::to_string(port_); }

void FakeDns::serve() {
  while (!is_ending_) {
    char room[2048];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    auto* const peer = reinterpret_cast<sockaddr*>(&from);
    const ssize_t bytes = ::recvfrom(socket_, room, sizeof room, 0, peer, &size);
    if (bytes < static_cast<ssize_t>(header_bytes)) continue;
    ++count_;
    const DnsQuery query(std::string(room, static_cast<std::size_t>(bytes)));
    for (const std::string& packet : answer_(query)) {
      ::sendto(socket_, packet.data(), packet.size(), 0, peer, size);
    }
  }
}

}  // namespace sennit::net::testing
