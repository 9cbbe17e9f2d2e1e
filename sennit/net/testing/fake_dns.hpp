#pragma once
// FakeDns: a name server on UDP of 127.0.0.1 that answers what a test tells it to.
//
// One thread of its own; `answer` is called on it. Thread safety: count() from any thread.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sennit::net::testing {

/// A question as it came, and how to answer it.
class DnsQuery {
 public:
  static constexpr std::uint16_t type_a = 1, type_cname = 5, type_aaaa = 28;

  explicit DnsQuery(std::string packet);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint16_t type() const { return type_; }

  /// The packets, to be sent as they are.
  /// Each record's data is raw: 4 or 16 bytes of an address.
  [[nodiscard]] std::string answer(const std::vector<std::string>& records,
                                   std::uint32_t ttl = 60) const;
  /// 2 server failure, 3 no such name, 5 refused.
  [[nodiscard]] std::string refuse(int code) const;

 private:
  [[nodiscard]] std::string head(int code, std::size_t answer_count) const;
  std::string packet_;
  std::string name_;
  std::size_t question_end_ = 12;
  std::uint16_t type_ = 0;
};

class FakeDns {
 public:
  /// What to send for a query: any number of packets, of any bytes.
  using Answer = std::function<std::vector<std::string>(const DnsQuery&)>;
  explicit FakeDns(Answer answer);
  ~FakeDns();
  FakeDns(const FakeDns&) = delete;
  FakeDns& operator=(const FakeDns&) = delete;

  /// "127.0.0.1:PORT".
  [[nodiscard]] std::string address() const;
  /// Queries seen so far.
  [[nodiscard]] int count() const { return count_; }

 private:
  void serve();
  const Answer answer_;
  int socket_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> count_ = 0;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace sennit::net::testing
