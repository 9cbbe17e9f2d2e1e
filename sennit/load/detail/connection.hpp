#pragma once
// Connection: sends requests, reads the responses, and again; a state machine on the backend.
//
//   idle -> connecting -> open ------ the last response: Connection: close ------> parting
//              ^    |       |                                                         |
//              |    v       v                                                         |
//              +- closing <- an error, a timeout, the peer's end <--------------------+
//              |    |
//              +- resting (after failures in a row)         stop(): -> closing -> ended
//
// 1. open: up to Plan::pipeline requests are unanswered. Those that may be sent are asked of the
// driver
//    and leave in one send; the next ones wait until it is done.
// 2. closing: the backend has been told to close; the last completion of each operation is awaited,
//    so that the operations can be used anew.
// 3. parting: the peer has announced that it will close. It is left to do so, because the end that
//    closes first is the one whose port stays in TIME_WAIT. What it has not answered has failed.
// 4. The timer is not armed for each request: it looks in when the oldest instant it knows is due,
//    and moves on to the oldest request's if that is later.
// 5. resting: 1 ms after a connect that failed, doubled with each failure in a row up to 100 ms;
//    other failures rest from the second in a row on. So a server that is down costs no CPU.

#include <cstdint>
#include <memory>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/time.hpp"
#include "sennit/http/method.hpp"
#include "sennit/load/detail/response_reader.hpp"
#include "sennit/load/report.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/timer.hpp"

namespace sennit::load::detail {

class Driver;

class Connection : public ListHook<Connection> {
 public:
  explicit Connection(Driver& driver);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void start();
  /// Sends one request that is due. Called on a connection that offered itself to the driver.
  void send_one(TimePoint now) { pump(now, 1); }
  /// Ends, without counting what is in flight; the driver is told once it has. Called once.
  void stop();

 private:
  enum class Phase : std::uint8_t { idle, connecting, open, parting, closing, resting, ended };

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
  /// A request that waits for its response.
  struct Asked {
    TimePoint intended_at;
    TimePoint sent_at;
    http::Method method;
  };

  void connect();
  [[nodiscard]] int open_socket();
  void connected(int result);
  void pump(TimePoint now, std::uint32_t requests_max);
  [[nodiscard]] bool can_ask() const;
  void add_request(TimePoint intended_at, TimePoint now, std::string_view& alone);
  void offer();
  void written(int result);
  void received(const runtime::io::Completion& completion);
  void take(std::string_view bytes);
  void peer_ended(int result);
  void answered(TimePoint now);
  void timer_fired();

  void fail(ErrorKind kind, int os_error, const char* reason);
  void count_unanswered(ErrorKind kind, const char* reason);
  void close();
  void close_if_idle();
  [[nodiscard]] Duration rest() const;
  [[nodiscard]] TimePoint due() const;
  [[nodiscard]] Asked& oldest() { return asked_[first_]; }

  Driver& driver_;
  runtime::io::Socket socket_;
  Phase phase_ = Phase::idle;
  bool failed_to_connect_ = false;
  std::uint8_t failures_in_a_row_ = 0;
  std::uint32_t sent_here_ = 0;  // Requests on this connection.
  TimePoint connect_begun_at_;
  TimePoint parting_since_;
  std::unique_ptr<Asked[]> asked_;  // A ring of Plan::pipeline.
  std::uint32_t first_ = 0;
  std::uint32_t asked_count_ = 0;
  Receiving receiving_;
  Writing writing_;
  Watch watch_;
  Buffer outgoing_;  // What is being sent, unless that is one constant request.
  ResponseReader reader_;
};

}  // namespace sennit::load::detail
