#pragma once
// ClientTest: a Client on a worker of each I/O backend, beside our own Server or a RawServer.

#include <chrono>
#include <string>

#include "sennit/http/client.hpp"
#include "sennit/http/testing/raw_server.hpp"
#include "sennit/http/testing/server_test_fixture.hpp"
#include "sennit/runtime/runtime.hpp"

namespace sennit::http::testing {

class ClientTest : public ServerTest {
 protected:
  /// Never waits on real names, and for nothing longer than a test is willing to.
  static ClientOptions client_options() {
    ClientOptions options;
    options.deadline = std::chrono::seconds(60);
    options.connect_timeout = std::chrono::seconds(60);
    options.resolver.use_dns = false;
    options.resolver.hosts_file.clear();
    options.backoff.first = std::chrono::milliseconds(1);
    options.backoff.most = std::chrono::milliseconds(2);
    return options;
  }
  /// Runs `body(client)` on a fiber of a worker of the backend.
  template <class F>
  void with_client(F body, const ClientOptions& options = client_options()) {
    runtime().run([&] {
      Client client(options);
      body(client);
    });
  }
  [[nodiscard]] std::string url(std::string_view target) const {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + std::string(target);
  }
  /// "200 body", or "phase: code".
  static std::string show(const ClientResult& result) {
    if (!result) {
      return std::string(to_string(result.error().phase())) + ": " +
             std::string(sennit::to_string(result.error().code()));
    }
    return std::to_string(static_cast<int>(result->status())) + " " + result->body();
  }
  /// Head and body of a plain answer.
  static std::string answer(std::string_view body, std::string_view status = "200 OK",
                            std::string_view more = "") {
    return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(more) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }
};

}  // namespace sennit::http::testing
