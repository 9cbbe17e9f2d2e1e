// What a GET of the client costs, beside the floor: the same bytes to and from the same server over
// a bare service::Connection, without parsing, pool, deadline of the call or headers.

#include <string>
#include <thread>

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/http/client.hpp"
#include "sennit/http/testing/raw_server.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/service/connection.hpp"

namespace sennit::http {
namespace {

constexpr const char* perf_request =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:12345\r\n"
    "User-Agent: sennit\r\nAccept-Encoding: gzip, zstd\r\n\r\n";
constexpr const char* perf_answer =
    "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nContent-Type: text/plain\r\n"
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nhello world";
constexpr int perf_rounds = 1000;

class ClientPerf : public ::testing::Test {
 protected:
  ClientPerf()
      : server_([](testing::RawPeer& peer) {
          while (peer.read_head()) peer.send(perf_answer);
        }) {
    log::set_level(log::Level::warning);
    auto started = Runtime::start({});
    SENNIT_ASSERT(started.has_value(), started.error().to_string());
    runtime_ = *std::move(started);
  }

  testing::RawServer server_;
  std::unique_ptr<Runtime> runtime_;
};

PERF_TEST_F_WITH(ClientPerf, Floor, .items_per_call = perf_rounds) {
  runtime_->run([this]() -> Task<> {
    const auto address = net::Address::from_host("127.0.0.1", server_.port());
    auto connection = service::Connection::open(*address);
    co_await connection->wait_sent(Deadline::never());
    const std::size_t answer_bytes = std::string_view(perf_answer).size();
    for (int i = 0; i < perf_rounds; ++i) {
      connection->output().append(perf_request);
      connection->flush();
      while (connection->received().size() < answer_bytes) {
        co_await connection->wait_received(connection->received().size(), Deadline::never());
      }
      connection->consume(answer_bytes);
    }
  });
}

PERF_TEST_F_WITH(ClientPerf, Get, .items_per_call = perf_rounds) {
  runtime_->run([this]() -> Task<> {
    Client client;
    const std::string url = server_.url();
    for (int i = 0; i < perf_rounds; ++i) {
      const ClientResult got = co_await client.get(url);
      SENNIT_ASSERT(got.has_value() && got->body() == "hello world");
    }
  });
}

PERF_TEST_F_WITH(ClientPerf, GetFromAFiber, .items_per_call = perf_rounds) {
  runtime_->run([this] {
    Client client;
    const std::string url = server_.url();
    for (int i = 0; i < perf_rounds; ++i) {
      const ClientResult got = wait(client.get(url));
      SENNIT_ASSERT(got.has_value() && got->body() == "hello world");
    }
  });
}

}  // namespace
}  // namespace sennit::http
