#pragma once
// Connection: one client, as a state machine. Without frame, stack or buffer while it is idle.
//
// Bytes that arrive are parsed where the backend lent them; only an incomplete rest is copied.
// One request at a time is handled; those pipelined behind it wait, and all answers of a batch
// leave in one send.
//
//   first_byte/idle -> head -> body -> handling -> idle
//        any of them, when it must end: -> lingering (answer sent, reading until the peer is done)
//        or at once on errors of the connection itself
//
// While it is handling or an answer is being sent, what arrives is kept unread up to a limit and
// then the backend is told to stop receiving. A timer looks in from time to time and ends a phase
// that lasts too long; it is not armed for each request.
//
// Lifetime: on the heap, in the service's list, until it is closed, its operations have had their
// last completion, and no handler runs for it.

#include <cstdint>
#include <memory>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/time.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/response.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/job.hpp"
#include "sennit/runtime/timer.hpp"

namespace sennit::http::detail {

class Exchange;
class WorkerService;

class Connection : public ListHook<Connection> {
 public:
  Connection(WorkerService& service, runtime::io::Socket socket);
  ~Connection();

  void start();
  /// The exchange's handler has ended.
  void handled();
  /// The service stops: ends soon if idle.
  void drain();
  /// Ends now, whatever it is doing.
  void abort();
  /// A request is being received or answered.
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool is_handling() const { return is_handling_; }

 private:
  enum class Phase : std::uint8_t { first_byte, idle, head, body, handling, lingering };

  struct Receiving : runtime::io::Operation {
    explicit Receiving(Connection& c);
    Connection& connection;
  };
  struct Sending : runtime::io::Operation {
    explicit Sending(Connection& c);
    Connection& connection;
  };
  struct PhaseTimer : runtime::Timer {
    explicit PhaseTimer(Connection& c);
    Connection& connection;
  };
  struct Continuation : runtime::Job {
    explicit Continuation(Connection& c);
    Connection& connection;
    bool is_queued = false;
  };

  // Receiving.
  void received(const runtime::io::Completion& completion);
  void take(std::string_view bytes);
  void throttle();
  [[nodiscard]] bool must_wait() const;
  void process_unparsed();
  std::size_t process(std::string_view bytes);
  [[nodiscard]] bool ends_batch() const;
  std::size_t read_head(std::string_view bytes, bool& made_progress);
  std::size_t read_body(std::string_view bytes, bool& made_progress);
  std::size_t read_chunks(std::string_view bytes);
  void begin_request(std::string_view head_bytes, const h1::RequestHead& head);
  void dispatch();

  // Answering.
  void answer(const Response& response);
  void refuse(int status, std::string_view why);
  void release_exchange();
  void flush();
  [[nodiscard]] bool finish_send(int result);
  void sent(int result);
  void after_answers();
  Buffer& output();

  // Time and the end.
  void enter(Phase phase);
  [[nodiscard]] TimePoint due() const;
  void arm();
  void watch_send();
  void timer_fired();
  void peer_ended(int result);
  void linger();
  void close();
  void delete_if_done();

  WorkerService& service_;
  runtime::io::Socket socket_;
  Receiving receiving_;
  Sending sending_;
  PhaseTimer timer_;
  Continuation continuation_;
  TimePoint phase_started_;
  TimePoint timer_due_;
  TimePoint send_progress_at_;  // When the send in flight was last seen to move.
  std::size_t send_progress_bytes_ = 0;
  Buffer unparsed_;                     // Arrived and not yet parsed; no memory while empty.
  std::unique_ptr<Buffer> output_;      // Answers not yet taken by the kernel.
  std::unique_ptr<Exchange> exchange_;  // The request being received or answered.
  std::string_view large_body_;         // Of exchange_'s response: sent after output_, in place.
  std::uint32_t scanned_ = 0;           // Bytes of unparsed_ known to be an incomplete head.
  std::uint16_t idle_jitter_ms_ = 0;
  std::uint16_t batch_count_ = 0;
  Phase phase_ = Phase::first_byte;
  bool is_dispatching_ = false;  // Inside Exchange::run().
  bool is_handling_ = false;     // The handler has not ended.
  bool is_processing_ = false;   // Inside process(): flush() comes at its end.
  bool closes_after_ = false;    // The last answer is written.
  bool more_waits_ = false;      // Bytes behind the request being answered have arrived.
  bool peer_is_done_ = false;    // It ended its direction while we were busy.
  bool is_closed_ = false;
};

}  // namespace sennit::http::detail
