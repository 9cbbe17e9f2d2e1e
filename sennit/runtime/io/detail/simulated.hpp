#pragma once
// Backend over a SimulatedKernel: never waits, never calls the real kernel.
//
// Built like the epoll backend, without the edges: the network says which socket may have changed,
// and poll() tries, in an order drawn by the seed, what waits on it.

#include <memory>
#include <vector>

#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/io/detail/slot_table.hpp"
#include "sennit/runtime/simulated/network.hpp"

namespace sennit::runtime::io {

class SimulatedBackend final : public Backend,
                               public SocketSource,
                               private simulated::Network::Watcher {
 public:
  /// Requires options.simulated_kernel.
  static Result<std::unique_ptr<Backend>> make(const BackendOptions& options);
  explicit SimulatedBackend(const BackendOptions& options);
  ~SimulatedBackend() override;

  /// Whether poll() would call a completion.
  [[nodiscard]] bool has_work() const;

  [[nodiscard]] std::string_view name() const override { return "simulated"; }
  [[nodiscard]] SocketSource* sockets() override { return this; }
  [[nodiscard]] Result<Socket> adopt(int descriptor) override;
  void close(Socket socket) override;
  void shut_down_writing(Socket socket) override;
  [[nodiscard]] int descriptor(Socket socket) const override;
  void accept(Operation& operation, Socket listener) override;
  void receive(Operation& operation, Socket socket) override;
  [[nodiscard]] bool send(Operation& operation, Socket socket, std::string_view bytes) override;
  [[nodiscard]] bool connect(Operation& operation, Socket socket, const void* address,
                             std::size_t address_bytes) override;
  void file(FileOperation& operation) override;
  void close_file(int descriptor) override;
  void cancel(Operation& operation) override;
  void poll(Duration timeout) override;
  void wake() override {}
  [[nodiscard]] std::size_t socket_count() const override { return slots_.used_count(); }
  [[nodiscard]] std::size_t closing_count() const override { return closing_count_; }

  [[nodiscard]] Result<int> open(int family) override;
  [[nodiscard]] Result<int> listen(const void* address, std::size_t address_bytes, int backlog,
                                   bool reuse_port) override;
  [[nodiscard]] Result<std::size_t> local_address(int descriptor, void* address,
                                                  std::size_t room_bytes) override;
  void refuse_new_connections(int listener) override;
  void discard(int descriptor) override;

 private:
  struct Slot {
    int descriptor = -1;
    std::uint32_t generation = 0;
    bool queued = false;
    bool closing = false;
    Operation* reader = nullptr;
    Operation* writer = nullptr;
  };

  void changed(Socket socket) override;
  void start(Operation& operation, Socket socket, Operation::Kind kind);
  void try_read(Socket socket);
  void try_write(Socket socket);
  void accept_some(Socket socket);
  void receive_some(Socket socket);
  bool send_some(Operation& operation, const Slot& slot);
  void finish(Operation& operation, int result);
  void deliver_files();
  void close_if_idle(Socket socket);

  const BackendOptions options_;
  simulated::Kernel& kernel_;
  simulated::Network& network_;
  detail::SlotTable<Slot> slots_;
  std::size_t closing_count_ = 0;
  std::unique_ptr<char[]> receive_buffer_;
  std::vector<Socket> changed_;  // Looked at in the next poll().
  std::vector<Socket> looking_;
  std::vector<Operation*> cancelled_;
  std::vector<Operation*> ending_;
  struct FileResult {
    FileOperation* operation;
    int result;
  };
  std::vector<FileResult> files_done_;
  std::size_t files_in_flight_ = 0;
};

}  // namespace sennit::runtime::io
