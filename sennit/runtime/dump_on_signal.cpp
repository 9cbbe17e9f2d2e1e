#include "sennit/runtime/dump_on_signal.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/registry.hpp"
#include "sennit/runtime/runtime.hpp"

namespace sennit::runtime {
namespace {

std::atomic<int> signalled_descriptor = -1;  // All that the handler can know.

constexpr std::uint64_t dump_request = 1, end_request = std::uint64_t{1} << 32;

void ask(int descriptor, std::uint64_t request) {
  [[maybe_unused]] const ssize_t written = ::write(descriptor, &request, sizeof request);
}

extern "C" void sennit_dump_requested(int) {
  const int saved = errno;
  const int descriptor = signalled_descriptor.load();
  if (descriptor >= 0) ask(descriptor, dump_request);
  errno = saved;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

struct DumpOnSignal::State {
  // Requests add up in the descriptor: those that come while one is served are one.
  void serve(Runtime& runtime, const Sink& sink) const {
    std::uint64_t requests = 0;
    for (;;) {
      if (::read(descriptor, &requests, sizeof requests) != sizeof requests) continue;
      if (requests >= end_request) return;
      sink(format_activities(list_activities(runtime)));
    }
  }
  int signal;
  int descriptor;
  struct sigaction before{};
  std::thread thread = {};
};

DumpOnSignal::DumpOnSignal(Runtime& runtime, int signal, Sink sink)
    : state_(new State{.signal = signal, .descriptor = ::eventfd(0, EFD_CLOEXEC)}) {
  SENNIT_ASSERT(state_->descriptor >= 0);
  const int none = signalled_descriptor.exchange(state_->descriptor);
  SENNIT_ASSERT(none == -1 && "one DumpOnSignal at a time");
  state_->thread =
      std::thread([state = state_.get(), &runtime, sink = sink ? std::move(sink) : Sink(&print)] {
        state->serve(runtime, sink);
      });
  struct sigaction action{};
  action.sa_handler = &sennit_dump_requested;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, &state_->before);
}

DumpOnSignal::~DumpOnSignal() {
  ::sigaction(state_->signal, &state_->before, nullptr);
  ask(state_->descriptor, end_request);
  state_->thread.join();
  signalled_descriptor = -1;
  ::close(state_->descriptor);
}

}  // namespace sennit::runtime
