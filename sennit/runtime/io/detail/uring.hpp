#pragma once
// Backend over io_uring. See uring.cpp for how the ring is used.

#include <cstdint>
#include <memory>
#include <vector>

#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/io/detail/slot_table.hpp"

namespace sennit::runtime::io {

namespace detail {
class UringRing;  // Keeps liburing's header out of here.
}

class UringBackend final : public Backend {
 public:
  static Result<std::unique_ptr<Backend>> make(const BackendOptions& options);
  ~UringBackend() override;

  [[nodiscard]] std::string_view name() const override { return "io_uring"; }
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
  [[nodiscard]] std::size_t socket_count() const override { return slots_.used_count(); }
  [[nodiscard]] std::size_t closing_count() const override { return closing_count_; }
  [[nodiscard]] RingDepth ring_depth() const override;

 private:
  struct Slot {
    int descriptor = -1;
    std::uint32_t generation = 0;
    bool closing = false;
    Operation* reader = nullptr;
    Operation* writer = nullptr;
  };

  explicit UringBackend(const BackendOptions& options);
  Result<void> open();

  void begin(Operation& operation, Socket socket, Operation::Kind kind);
  void submit(Operation& operation);
  void submit_wake_read();
  void rearm_later(Operation& operation);
  void run_rearms();
  void complete(Operation& operation, int result, std::uint32_t flags);
  void complete_accept(Operation& operation, int result, bool more);
  void complete_receive(Operation& operation, int result, std::uint32_t flags);
  void complete_send(Operation& operation, int result);
  void complete_watch(Operation& operation, int result);
  void finish(Operation& operation, const Completion& completion);
  void close_if_idle(Socket socket);
  void reap();

  const BackendOptions options_;
  std::unique_ptr<detail::UringRing> ring_;
  int wake_event_ = -1;
  std::uint64_t wake_count_ = 0;  // Where the kernel writes what it read from wake_event_.
  detail::SlotTable<Slot> slots_;
  std::size_t closing_count_ = 0;
  std::vector<Operation*> rearms_;  // Streams that the kernel ended and that go on.
  std::vector<Operation*> rearming_;
};

}  // namespace sennit::runtime::io
