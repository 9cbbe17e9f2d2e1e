#pragma once
// RawClient: a blocking connection that sends exactly the bytes it is told to, for tests of
// servers.
//
// Thread safety: none. Reads give up after a minute, so that a test fails rather than hangs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sennit::http::testing {

class RawClient {
 public:
  /// Connects to 127.0.0.1. A refusal shows as is_connected() == false.
  explicit RawClient(std::uint16_t port);
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient& operator=(RawClient&&) = delete;

  [[nodiscard]] bool is_connected() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// False if the connection is gone.
  bool send(std::string_view bytes);
  /// One byte in each segment.
  bool send_byte_by_byte(std::string_view bytes);
  /// We are done sending; the peer can still answer.
  void half_close();
  /// Ends with a reset instead of an orderly close.
  void reset();

  /// The next whole response, head and body as sent. Empty at the end of the connection; what
  /// arrived, if it ended in the middle of one.
  std::string response(bool to_head_request = false);
  /// Everything until the peer ends the connection.
  std::string read_to_end();
  /// True once the peer has ended the connection and nothing is left to read.
  bool is_ended();

 private:
  bool receive();

  int descriptor_ = -1;
  std::string received_;  // And not yet given out.
};

/// Of a response: its status code, and its body.
[[nodiscard]] int status_of(std::string_view response);
[[nodiscard]] std::string_view body_of(std::string_view response);

}  // namespace sennit::http::testing
