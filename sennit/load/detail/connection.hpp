#pragma once
// Connection: sends the request, reads the response, and again; a state machine on the backend.
//
//                       +--------- a response, keep-alive ---------+
//                       v                                          |
//   idle -> connecting -> answering ---------------------------------> parting
//              ^    |         |        a response, Connection: close     |
//              |    v         v                                          |
//              +- closing <- an error, a timeout, the peer's end <-------+
//              |    |
//              +- resting (after failures in a row)         stop(): -> closing -> ended
//
// 1. closing: the backend has been told to close; the last completion of each operation is awaited,
//    so that the operations can be used anew.
// 2. parting: the peer has announced that it will close. It is left to do so, because the end that
//    closes first is the one whose port stays in TIME_WAIT.
// 3. The timer is not armed for each request: it looks in when the oldest instant it knows is due,
//    and moves on to the present request's if that is later.
// 4. resting: 1 ms after a connect that failed, doubled with each failure in a row up to 100 ms;
//    other failures rest from the second in a row on. So a server that is down costs no CPU.

#include <cstdint>
#include <string_view>

#include "sennit/base/time.hpp"
#include "sennit/load/detail/response_reader.hpp"
#include "sennit/load/report.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/timer.hpp"

namespace sennit::load::detail {

class Driver;

class Connection {
 public:
  explicit Connection(Driver& driver);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Ends, without counting what is in flight; the driver is told once it has. Called once.
  void stop();

 private:
  enum class Phase : std::uint8_t { idle, connecting, answering, parting, closing, resting, ended };

  struct Receiving : runtime::io::Operation {
    explicit Receiving(Connection& c);
    Connection& connection;
  };
  /// Connects, and then sends.
  struct Writing : runtime::io::Operation {
    explicit Writing(Connection& c);
    Connection& connection;
  };
  struct Watch : runtime::Timer {
    explicit Watch(Connection& c);
    Connection& connection;
  };

  void connect();
  [[nodiscard]] int open_socket();
  void connected(int result);
  void send_request(TimePoint now);
  void written(int result);
  void received(const runtime::io::Completion& completion);
  void take(std::string_view bytes);
  void peer_ended(int result);
  void answered(TimePoint now);
  void go_on(TimePoint now);
  void timer_fired();

  void fail(ErrorKind kind, int os_error, const char* reason);
  void close();
  void close_if_idle();
  void leave_connecting();
  [[nodiscard]] Duration rest() const;
  [[nodiscard]] TimePoint due() const;

  Driver& driver_;
  runtime::io::Socket socket_;
  Phase phase_ = Phase::idle;
  bool is_answered_ = false;  // In full, while its request is still being sent.
  bool failed_to_connect_ = false;
  std::uint8_t failures_in_a_row_ = 0;
  TimePoint started_at_;  // The connect, or the request.
  Receiving receiving_;
  Writing writing_;
  Watch watch_;
  ResponseReader reader_;
};

}  // namespace sennit::load::detail
