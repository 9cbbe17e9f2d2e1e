// Two machines, a bad link and a partition of a minute, in a few milliseconds.

#include "sennit/runtime/testing/simulation.hpp"

#include <cstdio>

#include "sennit/net/tcp.hpp"
#include "sennit/runtime/wait.hpp"

using namespace sennit;
using namespace std::chrono_literals;

int main() {
  Simulation sim({.seed = 7});
  runtime::simulated::Link bad;
  bad.latency_min = 20ms;
  bad.latency_max = 80ms;
  bad.loss = 0.05;
  sim.network().set_link("10.0.0.1", "10.0.0.2", bad);
  Runtime& server = sim.add_machine("10.0.0.1");
  Runtime& client = sim.add_machine("10.0.0.2");

  const net::Address address = *net::Address::parse("10.0.0.1:80");
  auto listener = server.run([&] { return net::TcpListener::listen(address); });
  auto request = client.run([&] { return wait(net::connect(address)); });
  auto accepted = server.run([&] { return wait(listener->accept()); });

  sim.network().partition("10.0.0.1", "10.0.0.2");
  sim.kernel().after(60s, [&] { sim.network().heal("10.0.0.1", "10.0.0.2"); });
  client.run([&] { return wait(request->write("are you there?")); });
  char room[100];
  const Result<std::size_t> bytes = server.run([&] { return wait(accepted->read(room)); });
  std::printf("%zu bytes after %.1f s of virtual time\n", *bytes,
              std::chrono::duration<double>(sim.elapsed()).count());

  client.run([&] { request = failure(Errc::closed); });  // Sockets are closed on their workers.
  server.run([&] {
    accepted = failure(Errc::closed);
    listener = failure(Errc::closed);
  });
}
