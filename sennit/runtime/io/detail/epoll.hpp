#pragma once
// Backend over epoll. See epoll.cpp for how completions are made of readiness.

#include <memory>
#include <mutex>
#include <vector>

#include "sennit/runtime/blocking_pool.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/io/detail/slot_table.hpp"

namespace sennit::runtime::io {

class EpollBackend final : public Backend {
 public:
  static Result<std::unique_ptr<Backend>> make(const BackendOptions& options);
  ~EpollBackend() override;

  [[nodiscard]] std::string_view name() const override { return "epoll"; }
  [[nodiscard]] Result<Socket> adopt(int descriptor) override;
  void close(Socket socket) override;
  void shut_down_writing(Socket socket) override;
  [[nodiscard]] int descriptor(Socket socket) const override;
  void accept(Operation& operation, Socket listener) override;
  void receive(Operation& operation, Socket socket) override;
  [[nodiscard]] bool send(Operation& operation, Socket socket, std::string_view bytes) override;
  [[nodiscard]] bool connect(Operation& operation, Socket socket, const void* address,
                             std::size_t address_bytes) override;
  [[nodiscard]] bool watch(Operation& operation, int descriptor, Interest interest) override;
  void file(FileOperation& operation) override;
  void cancel(Operation& operation) override;
  void poll(Duration timeout) override;
  void wake() override;
  [[nodiscard]] std::size_t socket_count() const override {
    return slots_.used_count() - watch_count_;
  }
  [[nodiscard]] std::size_t closing_count() const override { return closing_count_; }

 private:
  struct Slot {
    int descriptor = -1;
    std::uint32_t generation = 0;
    bool readable = false;  // The kernel may hold something to read.
    bool writable = false;
    bool hung_up = false;  // Read until the end: no further edge will come.
    bool read_queued = false;
    bool closing = false;
    bool watched = false;  // Not ours: `reader` is a watch, and the slot ends with it.
    Operation* reader = nullptr;
    Operation* writer = nullptr;
  };

  struct FileJob;

  explicit EpollBackend(const BackendOptions& options);
  Result<void> open();

  /// What an event carries: the socket it is of.
  static std::uint64_t token(Socket socket) {
    return std::uint64_t{socket.generation} << 32 | socket.slot;
  }
  void start_reading(Operation& operation, Socket socket, Operation::Kind kind);
  void queue_read(Socket socket, Slot& slot);
  void read_some(Socket socket);
  void accept_some(Socket socket);
  void receive_some(Socket socket);
  bool send_some(Operation& operation, Slot& slot);
  void finish_connect(Socket socket);
  void write_some(Socket socket);
  void handle(Socket socket, std::uint32_t events);
  void deliver_cancelled();
  void finish(Operation& operation, const Completion& completion);
  void finish_watch(Operation& operation, int result);
  [[nodiscard]] BlockingPool& pool();
  void file_done(FileJob& job);
  void cancel_file(Operation& operation);
  void deliver_files();
  void close_if_idle(Socket socket);

  const BackendOptions options_;
  int epoll_ = -1;
  int wake_event_ = -1;
  detail::SlotTable<Slot> slots_;
  std::size_t closing_count_ = 0;
  std::size_t watch_count_ = 0;
  std::unique_ptr<BlockingPool> own_pool_;
  std::mutex files_mutex_;  // Guards files_done_, which the pool's threads fill.
  std::vector<FileJob*> files_done_;
  std::vector<FileJob*> files_completing_;
  std::size_t files_in_flight_ = 0;
  std::unique_ptr<char[]> receive_buffer_;
  std::vector<Socket> pending_reads_;  // Readable and wanted; read in the next turn.
  std::vector<Socket> reading_;        // The ones of this turn.
  std::vector<Operation*> cancelled_;  // Get their last completion in the next turn.
  std::vector<Operation*> ending_;     // The ones of this turn.
};

}  // namespace sennit::runtime::io
