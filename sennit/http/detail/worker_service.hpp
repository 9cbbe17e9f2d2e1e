#pragma once
// WorkerService: the server's part on one worker. Its listening socket, its connections, and what
// they borrow: exchanges, output buffers, the date of this second.
//
// Thread safety: made by the server; everything else on its worker, but for what says otherwise.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sennit/base/buffer.hpp"
#include "sennit/base/intrusive_list.hpp"
#include "sennit/http/detail/connection.hpp"
#include "sennit/http/detail/exchange.hpp"
#include "sennit/http/detail/route_table.hpp"
#include "sennit/http/detail/server_metrics.hpp"
#include "sennit/http/detail/shedder.hpp"
#include "sennit/http/handler.hpp"
#include "sennit/http/options.hpp"
#include "sennit/http/router.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::http::detail {

/// What all workers share and none changes, but for the counters.
struct Shared {
  const Router& router;
  const StateMap& state;
  std::vector<ServedRoute> routes;  // See RouteTable::served().
  ServerOptions options;
  metrics::GoldenSignals* signals = nullptr;
  metrics::Registry* registry = nullptr;
  std::size_t connections_max_each = 0;  // Of each worker,
  std::size_t in_flight_max_each = 0;    // and the requests.
  bool keeps_listeners = false;          // They are others' too: no filter may stay on them.
};

class WorkerService {
 public:
  WorkerService(runtime::Worker& worker, const Shared& shared);
  ~WorkerService();  // Requires that drained was called.

  /// Takes ownership of a listening descriptor and serves it.
  Result<void> listen(int descriptor);
  struct Drained {
    std::size_t cut_off = 0;         // Requests that were not answered in time.
    std::size_t still_handling = 0;  // Of them: handlers that have not ended.
  };
  /// Stops as Server::stop says, then calls `drained`.
  void drain(std::function<void(const Drained&)> drained);

  // For connections.
  [[nodiscard]] runtime::Worker& worker() { return worker_; }
  [[nodiscard]] const ServerOptions& options() const { return shared_.options; }
  [[nodiscard]] const Router& router() const { return shared_.router; }
  [[nodiscard]] const StateMap& state() const { return shared_.state; }
  /// The one that answers, whether the router found a route or not.
  [[nodiscard]] const ServedRoute& served(const Router::Match& match) const;
  /// Counts the exchange as in flight. False if there are too many, or it would wait too long.
  [[nodiscard]] bool admit(Exchange& exchange);
  /// The exchange is over.
  void count(Exchange& exchange);
  [[nodiscard]] ServerMetrics& metrics() { return metrics_; }
  [[nodiscard]] bool is_draining() const { return drained_ != nullptr; }
  /// While draining: also those pipelined requests behind which others wait are the last now.
  [[nodiscard]] bool announces_each_answer() const {
    return is_draining() && worker_.now() >= announces_each_from_;
  }
  [[nodiscard]] std::string_view date_line();
  [[nodiscard]] std::unique_ptr<Exchange> borrow_exchange();
  void give_back(std::unique_ptr<Exchange> exchange);
  [[nodiscard]] std::unique_ptr<Buffer> borrow_buffer();
  void give_back(std::unique_ptr<Buffer> buffer);
  /// Deletes the connection.
  void remove(Connection& connection);

 private:
  struct Accepting : runtime::io::Operation {
    explicit Accepting(WorkerService& service);
    WorkerService& service;
  };
  struct ServiceTimer : runtime::Timer {
    ServiceTimer(WorkerService& service, Expired expired) : Timer(expired), service(service) {}
    WorkerService& service;
  };

  void accepted(const runtime::io::Completion& completion);
  void pause_accepting(std::string_view why);
  void resume_accepting();
  void close_listener();
  void cut_off();
  void finish_if_drained();
  void begin_drain();
  void probe_queue();
  [[nodiscard]] Duration elapsed_since(TimePoint started);

  runtime::Worker& worker_;
  const Shared& shared_;
  runtime::io::Socket listener_;
  Accepting accepting_;
  bool is_paused_ = false;
  ServiceTimer accept_timer_;  // Starts accepting again after a pause.
  IntrusiveList<Connection> connections_;
  std::size_t connection_count_ = 0;
  std::size_t in_flight_ = 0;
  ServerMetrics metrics_;
  Shedder shedder_;
  ServiceTimer probe_timer_;  // How late it fires is how long what is ready waits.
  TimePoint probe_due_;
  TimePoint measured_turn_;  // For elapsed_since().
  Duration measured_in_turn_{};

  std::vector<std::unique_ptr<Exchange>> idle_exchanges_;
  std::vector<std::unique_ptr<Buffer>> idle_buffers_;
  std::string date_line_;
  std::int64_t date_second_ = -1;

  std::function<void(const Drained&)> when_drained_;  // Until draining begins.
  std::function<void(const Drained&)> drained_;
  TimePoint announces_each_from_;
  ServiceTimer unready_timer_;   // Begins to drain.
  ServiceTimer listener_timer_;  // Closes the listening socket.
  ServiceTimer drain_timer_;     // The drain deadline.
};

}  // namespace sennit::http::detail
