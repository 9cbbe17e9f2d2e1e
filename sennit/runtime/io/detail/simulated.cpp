#include "sennit/runtime/io/detail/simulated.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/simulated/files.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime::io {
namespace {

using simulated::detail::name_from_sockaddr;
using simulated::detail::SocketName;

simulated::Kernel& kernel_of(const BackendOptions& options) {
  SENNIT_ASSERT(options.simulated_kernel != nullptr && "a simulated backend needs a kernel");
  return *options.simulated_kernel;
}

}  // namespace

Result<std::unique_ptr<Backend>> SimulatedBackend::make(const BackendOptions& options) {
  return std::make_unique<SimulatedBackend>(options);
}

SimulatedBackend::SimulatedBackend(const BackendOptions& options)
    : options_(options),
      kernel_(kernel_of(options)),
      network_(kernel_.network()),
      receive_buffer_(std::make_unique_for_overwrite<char[]>(options.receive_buffer_bytes)) {}

SimulatedBackend::~SimulatedBackend() {
  SENNIT_ASSERT(files_in_flight_ == 0, files_in_flight_);
  for (const Slot& slot : slots_.all()) {
    SENNIT_ASSERT(slot.reader == nullptr && slot.writer == nullptr, slot.descriptor);
    if (slot.descriptor >= 0) network_.close(slot.descriptor);
  }
}

bool SimulatedBackend::has_work() const {
  return !changed_.empty() || !cancelled_.empty() || !files_done_.empty();
}

// --- Sockets ------------------------------------------------------------------------------------

Result<int> SimulatedBackend::open(int family) {
  const int descriptor = network_.open(options_.simulated_machine, family);
  if (descriptor < 0) return os_failure(-descriptor, "open a simulated socket");
  return descriptor;
}

Result<int> SimulatedBackend::listen(const void* address, std::size_t address_bytes, int backlog,
                                     bool reuse_port) {
  SENNIT_TRY(const SocketName name, name_from_sockaddr(address, address_bytes));
  const int descriptor = network_.listen(options_.simulated_machine, name, backlog, reuse_port);
  if (descriptor < 0) return os_failure(-descriptor, "listen on a simulated socket");
  return descriptor;
}

Result<std::size_t> SimulatedBackend::local_address(int descriptor, void* address,
                                                    std::size_t room_bytes) {
  const SocketName* const name = network_.name_of(descriptor);
  if (name == nullptr) return os_failure(EBADF, "ask a simulated socket for its address");
  return sockaddr_from_name(*name, address, room_bytes);
}

void SimulatedBackend::refuse_new_connections(int listener) {
  network_.refuse_new_connections(listener);
}

void SimulatedBackend::discard(int descriptor) { network_.close(descriptor); }

Result<Socket> SimulatedBackend::adopt(int descriptor) {
  if (network_.name_of(descriptor) == nullptr) {
    return os_failure(EBADF, "adopt what is no simulated socket");
  }
  const Socket socket = slots_.add();
  slots_.at(socket).descriptor = descriptor;
  network_.watch(descriptor, this, socket);
  changed(socket);  // It may have something to read already.
  return socket;
}

void SimulatedBackend::close(Socket socket) {
  Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(!slot.closing, socket.slot);
  slot.closing = true;
  ++closing_count_;
  Operation* const reader = slot.reader;
  Operation* const writer = slot.writer;
  if (reader != nullptr) cancel(*reader);
  if (writer != nullptr) cancel(*writer);
  close_if_idle(socket);
}

void SimulatedBackend::close_if_idle(Socket socket) {
  const Slot& slot = slots_.at(socket);
  if (!slot.closing || slot.reader != nullptr || slot.writer != nullptr) return;
  network_.close(slot.descriptor);
  --closing_count_;
  slots_.remove(socket);
}

void SimulatedBackend::shut_down_writing(Socket socket) {
  const Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(slot.writer == nullptr, socket.slot);
  network_.shut_down_writing(slot.descriptor);
}

int SimulatedBackend::descriptor(Socket socket) const { return slots_.at(socket).descriptor; }

// --- Operations ---------------------------------------------------------------------------------

void SimulatedBackend::changed(Socket socket) {
  Slot& slot = slots_.at(socket);
  if (std::exchange(slot.queued, true)) return;
  changed_.push_back(socket);
}

void SimulatedBackend::start(Operation& operation, Socket socket, Operation::Kind kind) {
  SENNIT_ASSERT(!operation.in_flight());
  Slot& slot = slots_.at(socket);
  const bool reads = kind == Operation::Kind::accept || kind == Operation::Kind::receive;
  Operation*& side = reads ? slot.reader : slot.writer;
  SENNIT_ASSERT(side == nullptr && !slot.closing, socket.slot);
  side = &operation;
  operation.kind_ = kind;
  operation.socket_ = socket;
  operation.cancelled_ = false;
  changed(socket);
}

void SimulatedBackend::accept(Operation& operation, Socket listener) {
  start(operation, listener, Operation::Kind::accept);
}

void SimulatedBackend::receive(Operation& operation, Socket socket) {
  start(operation, socket, Operation::Kind::receive);
}

// Now and then what could be done at once is done later, as on io_uring, so that callers meet both.
bool SimulatedBackend::send(Operation& operation, Socket socket, std::string_view bytes) {
  start(operation, socket, Operation::Kind::send);
  operation.data_ = bytes.data();
  operation.bytes_ = bytes.size();
  operation.transferred_ = 0;
  Slot& slot = slots_.at(socket);
  if (kernel_.random().below(4) == 0 || !send_some(operation, slot)) return false;
  slot.writer = nullptr;
  operation.kind_ = Operation::Kind::none;
  return true;
}

bool SimulatedBackend::send_some(Operation& operation, const Slot& slot) {
  while (operation.bytes_ > 0) {
    const std::ptrdiff_t sent = network_.send(slot.descriptor, {operation.data_, operation.bytes_});
    if (sent == -EAGAIN) return false;
    if (sent < 0) {
      operation.result_ = static_cast<int>(sent);
      return true;
    }
    const auto moved = static_cast<std::size_t>(sent);
    operation.data_ += moved;
    operation.bytes_ -= moved;
    operation.transferred_ += moved;
  }
  operation.result_ = static_cast<int>(std::min<std::size_t>(operation.transferred_, INT_MAX));
  return true;
}

bool SimulatedBackend::connect(Operation& operation, Socket socket, const void* address,
                               std::size_t address_bytes) {
  start(operation, socket, Operation::Kind::connect);
  Slot& slot = slots_.at(socket);
  const auto name = name_from_sockaddr(address, address_bytes);
  const int result = name ? network_.connect(slot.descriptor, *name) : -name.error().os_error();
  if (result == -EINPROGRESS) return false;
  slot.writer = nullptr;
  operation.kind_ = Operation::Kind::none;
  operation.result_ = result;
  return true;
}

void SimulatedBackend::cancel(Operation& operation) {
  if (!operation.in_flight() || operation.cancelled_) return;
  operation.cancelled_ = true;
  if (operation.kind_ == Operation::Kind::file) return;  // Seen when its time has come.
  cancelled_.push_back(&operation);
}

void SimulatedBackend::finish(Operation& operation, int result) {
  const Socket socket = operation.socket_;
  Slot& slot = slots_.at(socket);
  (slot.reader == &operation ? slot.reader : slot.writer) = nullptr;
  operation.kind_ = Operation::Kind::none;
  close_if_idle(socket);
  operation.completed_(operation, {.result = result, .more = false, .bytes = {}});
}

void SimulatedBackend::try_read(Socket socket) {
  if (!slots_.is_current(socket)) return;
  const Slot& slot = slots_.at(socket);
  if (slot.reader == nullptr || slot.reader->cancelled_) return;
  if (slot.reader->kind_ == Operation::Kind::accept) {
    accept_some(socket);
  } else {
    receive_some(socket);
  }
}

void SimulatedBackend::try_write(Socket socket) {
  if (!slots_.is_current(socket)) return;
  const Slot& slot = slots_.at(socket);
  if (slot.writer == nullptr || slot.writer->cancelled_) return;
  Operation& operation = *slot.writer;
  if (operation.kind_ == Operation::Kind::connect) {
    const int result = network_.connect_result(slot.descriptor);
    if (result != -EINPROGRESS) finish(operation, result);
  } else if (send_some(operation, slot)) {
    finish(operation, operation.result_);
  }
}

void SimulatedBackend::accept_some(Socket socket) {
  for (unsigned taken = 0;; ++taken) {
    // The receiver may have cancelled, closed, or grown the table: look again each time.
    if (!slots_.is_current(socket)) return;
    const Slot& slot = slots_.at(socket);
    if (slot.reader == nullptr || slot.reader->cancelled_) return;
    if (taken == options_.accept_burst) return changed(socket);
    const int accepted = network_.accept(slot.descriptor);
    if (accepted == -EAGAIN) return;
    if (accepted < 0) return finish(*slot.reader, accepted);
    slot.reader->completed_(*slot.reader, {.result = accepted, .more = true, .bytes = {}});
  }
}

void SimulatedBackend::receive_some(Socket socket) {
  const Slot& slot = slots_.at(socket);
  const std::size_t room = kernel_.random().below(options_.receive_buffer_bytes) + 1;
  const std::ptrdiff_t received = network_.receive(slot.descriptor, receive_buffer_.get(), room);
  if (received == -EAGAIN) return;
  if (received <= 0) return finish(*slot.reader, static_cast<int>(received));
  changed(socket);  // There may be more; a turn later, so that nobody starves.
  const auto bytes = static_cast<std::size_t>(received);
  slot.reader->completed_(*slot.reader, {.result = static_cast<int>(received),
                                         .more = true,
                                         .bytes = {receive_buffer_.get(), bytes}});
}

// --- Files --------------------------------------------------------------------------------------

void SimulatedBackend::file(FileOperation& operation) {
  SENNIT_ASSERT(!operation.in_flight());
  operation.kind_ = Operation::Kind::file;
  operation.cancelled_ = false;
  ++files_in_flight_;
  simulated::Files& files = kernel_.files();
  kernel_.after(files.latency(), [this, &operation, &files] {
    // One that is cancelled may have been done already: both happen.
    const bool is_lost = operation.cancelled_ && kernel_.random().below(2) == 0;
    const int result = is_lost ? -ECANCELED : files.call(options_.simulated_machine, operation);
    files_done_.push_back({.operation = &operation, .result = result});
  });
}

void SimulatedBackend::close_file(int descriptor) { kernel_.files().close(descriptor); }

void SimulatedBackend::deliver_files() {
  std::vector<FileResult> done;
  done.swap(files_done_);
  for (const FileResult& each : done) {
    Operation& operation = *each.operation;
    operation.kind_ = Operation::Kind::none;
    --files_in_flight_;
    operation.completed_(operation, {.result = each.result, .more = false, .bytes = {}});
  }
}

void SimulatedBackend::poll(Duration) {
  woken();
  ending_.swap(cancelled_);
  looking_.swap(changed_);
  for (Operation* const operation : ending_) finish(*operation, -ECANCELED);
  ending_.clear();
  for (std::size_t left = looking_.size(); left > 1; --left) {
    std::swap(looking_[left - 1], looking_[kernel_.random().below(left)]);
  }
  for (const Socket socket : looking_) {
    if (!slots_.is_current(socket)) continue;
    slots_.at(socket).queued = false;
    try_write(socket);
    try_read(socket);
  }
  looking_.clear();
  if (!files_done_.empty()) deliver_files();
}

}  // namespace sennit::runtime::io
