#pragma once
// NetworkTest: a fixture that uses a simulated network by its own calls, without workers.

#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "sennit/runtime/simulated/kernel.hpp"
#include "sennit/runtime/simulated/network.hpp"

namespace sennit::runtime::simulated::testing {

using detail::SocketName;

inline constexpr const char* one = "10.0.0.1";
inline constexpr const char* other = "10.0.0.2";

class NetworkTest : public ::testing::Test {
 protected:
  void make(std::uint64_t seed, std::size_t descriptors_max = 1000) {
    kernel_.reset();
    listener_ = -1;
    kernel_.emplace(Kernel::Options{.seed = seed, .descriptors_max = descriptors_max});
  }
  [[nodiscard]] Kernel& kernel() {
    if (!kernel_) make(1);
    return *kernel_;
  }
  [[nodiscard]] Network& network() { return kernel().network(); }

  static SocketName name(const char* host, std::uint16_t port) {
    return {.family = AF_INET, .host = host, .port = port};
  }
  /// Of a connect that is given as long as it takes.
  int connect(int descriptor, const SocketName& to) {
    int result = network().connect(descriptor, to);
    if (result != -EINPROGRESS) return result;
    kernel().run_until([&] {
      result = network().connect_result(descriptor);
      return result != -EINPROGRESS;
    });
    return result;
  }
  /// A connection from `one` to `other`: both descriptors.
  std::pair<int, int> make_pair(std::uint16_t port = 80) {
    if (listener_ < 0) listener_ = network().listen(other, name(other, port), 1000, false);
    const int client = network().open(one, AF_INET);
    EXPECT_EQ(connect(client, name(other, port)), 0);
    const int server = network().accept(listener_);
    EXPECT_GE(server, 0);
    return {client, server};
  }
  /// What can be read now; ends with "!" and the errno, or "." at the end of the stream.
  std::string read(int descriptor) {
    std::string all, room(100'000, '\0');
    for (;;) {
      const auto bytes = network().receive(descriptor, room.data(), room.size());
      if (bytes == -EAGAIN) return all;
      if (bytes == 0) return all + ".";
      if (bytes < 0) return all + "!" + std::to_string(-bytes);
      all.append(room, 0, static_cast<std::size_t>(bytes));
    }
  }
  /// Steps until it can read `bytes`, and reads them.
  std::string read_exactly(int descriptor, std::size_t bytes) {
    std::string all;
    kernel().run_until([&] {
      all += read(descriptor);
      return all.size() >= bytes;
    });
    return all;
  }
  Duration time(const std::function<void()>& body) {
    const TimePoint start = kernel().now();
    body();
    return kernel().now() - start;
  }

 private:
  std::optional<Kernel> kernel_;
  int listener_ = -1;
};

}  // namespace sennit::runtime::simulated::testing
