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
// An exchange is held from the end of a request's head until its answer is written and its body is
// done with. A handler that takes the whole body runs when that is complete; one that reads a
// stream runs at once, and the bytes it has not asked for stay in unparsed_.
//
// While it is handling or an answer is being sent, what arrives is kept unread up to a limit and
// then the backend is told to stop receiving. A timer looks in from time to time and ends a phase
// that lasts too long; it is not armed for each request.
//
// Nothing is ever appended to a buffer that the kernel is sending: output_ gathers answers, and
// becomes sending_buffer_ when its send starts.
//
// Lifetime: on the heap, in the service's list, until it is closed, its operations have had their
// last completion, and no handler runs for it.

#include <cstdint>
#include <memory>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/time.hpp"
#include "sennit/http/detail/body_channel.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/response.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/job.hpp"
#include "sennit/runtime/timer.hpp"

namespace sennit::http::detail {

class Exchange;
class WorkerService;

inline constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

class Connection final : public ListHook<Connection>, public BodyChannel {
 public:
  Connection(WorkerService& service, runtime::io::Socket socket);
  ~Connection();

  void start();
  /// The exchange's handler has returned a response whose body a function writes. Sends the head;
  /// false if the body is not to be written at all.
  [[nodiscard]] bool begin_stream();
  /// The exchange's handler, and the function that wrote its body if there was one, have ended.
  void handled();
  /// The service stops: ends soon if idle.
  void drain();
  /// Ends now, whatever it is doing.
  void abort();
  /// A request is being received or answered.
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool is_handling() const { return is_handling_; }

  // BodyChannel, for the handler.
  bool has_body() override;
  void wait_for_body(runtime::Waiter& waiter) override;
  bool stop_waiting_for_body() override;
  Result<std::string_view> take_body() override;
  bool write(std::string_view bytes) override;
  void wait_for_room(runtime::Waiter& waiter) override;
  bool stop_waiting_for_room() override;
  Result<void> write_result() override;

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
  std::size_t decode_body(std::string_view bytes, std::string_view& piece);
  [[nodiscard]] std::uint64_t body_bytes_max() const;
  void begin_request(std::string_view head_bytes, const h1::RequestHead& head);
  [[nodiscard]] bool route();
  void run_handler();
  void fail_body(int status, const char* why);

  // Streaming, see connection_stream.cpp.
  void find_body();
  void lend_body();
  void wake_body_waiter();
  void wake_room_waiter();
  void end_stream();
  void return_unread();
  [[nodiscard]] bool has_room() const;
  void append_chunk(std::string_view bytes);

  // Answering, see connection_answer.cpp.
  void answer(const Response& response);
  void write_head_of(const Response& response, bool& has_body);
  [[nodiscard]] bool may_go_on(const Response& response) const;
  void refuse(int status, std::string_view why);
  void release_if_done();
  void release_exchange();
  void flush();
  [[nodiscard]] std::string_view next_to_send();
  [[nodiscard]] bool finish_send(int result);
  void read_file();
  void sent(int result);
  void after_answers();
  Buffer& output();

  // Time and the end, see connection_end.cpp.
  void enter(Phase phase);
  [[nodiscard]] TimePoint due() const;
  [[nodiscard]] TimePoint body_due() const;
  void arm();
  void watch_send();
  void timer_fired();
  void handling_timed_out();
  void abandon_handler();
  void peer_ended(int result);
  void cancel_for_absent_client();
  void linger();
  void close();
  void delete_if_done();

  WorkerService& service_;
  runtime::io::Socket socket_;
  Receiving receiving_;
  Sending sending_;
  PhaseTimer timer_;
  Continuation continuation_;
  TimePoint accepted_at_;
  TimePoint phase_started_;
  TimePoint timer_due_;
  TimePoint send_progress_at_;  // When the send in flight was last seen to move.
  std::size_t send_progress_bytes_ = 0;
  Buffer unparsed_;                         // Arrived and not yet parsed; no memory while empty.
  std::unique_ptr<Buffer> output_;          // Answers that no send has begun with.
  std::unique_ptr<Buffer> sending_buffer_;  // What the kernel is given now.
  std::unique_ptr<Exchange> exchange_;      // The request being received or answered.
  std::string_view large_body_;             // Of exchange_: sent after output_, in place.
  std::uint32_t scanned_ = 0;               // Bytes of unparsed_ known to be an incomplete head.
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
