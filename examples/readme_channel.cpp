// A channel between two kinds: a coroutine produces, a fiber consumes, and a timeout watches over
// it.
#include <fmt/core.h>

#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/sync/channel.hpp"
#include "sennit/runtime/when.hpp"

using namespace sennit;
using namespace std::chrono_literals;

Task<> produce(Channel<int>& squares) {
  for (int i = 1; i <= 5; ++i) (void)co_await squares.send(i * i);
  squares.close();
}

void consume(Channel<int>& squares) {
  for (;;) {
    auto [first, results] = wait(when_any(squares.receive(), sleep_for(10s)));
    const auto& square = std::get<0>(results);
    if (!square || !*square) return;  // Closed, or too late.
    fmt::print("{}\n", **square);
  }
}

int main() {
  const auto runtime = Runtime::start({});
  if (!runtime) return 1;
  (*runtime)->run([] {
    Channel<int> squares(2);
    Scope scope;
    scope.spawn([&] { return produce(squares); });
    scope.spawn([&] { consume(squares); });
    wait(scope.join());
  });
}
