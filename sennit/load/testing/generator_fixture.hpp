#pragma once
// What the tests of the generator share: runs of it on each backend, and what is expected of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/http/testing/raw_server.hpp"
#include "sennit/load/generator.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::load::testing {

inline constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class GeneratorTest : public runtime::testing::BackendTest {
 protected:
  GeneratorTest() { log::set_level(log::Level::off); }

  [[nodiscard]] static Options options_for(const std::string& url) {
    Options options(Url::parse(url).value());
    options.backend = GetParam();
    options.connections = 8;
    options.workers = 2;
    options.duration = std::chrono::milliseconds(100);
    return options;
  }
  static Report run(const Options& options) {
    auto generator = Generator::start(options);
    SENNIT_ASSERT(generator.has_value(), generator.error().to_string());
    return (*generator)->finish();
  }
  static Report run(const std::string& url) { return run(options_for(url)); }

  /// Runs until so many were answered, or have failed.
  static Report run_until(std::uint64_t count, Options options) {
    options.duration = std::chrono::minutes(2);
    auto generator = Generator::start(options);
    SENNIT_ASSERT(generator.has_value(), generator.error().to_string());
    do {
      const Progress progress = (*generator)->progress();
      if (progress.requests + progress.errors.total() >= count) (*generator)->stop();
    } while (!(*generator)->wait_for(std::chrono::milliseconds(1)));
    const Report report = (*generator)->finish();
    EXPECT_GE(report.requests + report.errors.total(), count);
    return report;
  }
  static Report run_until(std::uint64_t count, const std::string& url) {
    return run_until(count, options_for(url));
  }
};

/// Not before its time, and not for ever.
inline auto on_time(Duration asked) {
  return ::testing::AllOf(::testing::Ge(asked), ::testing::Le(asked + std::chrono::minutes(1)));
}

/// All errors must be of this kind.
inline void expect_only(const Report& report, ErrorKind kind) {
  EXPECT_GT(report.errors[kind], 0) << report.first_error;
  EXPECT_EQ(report.errors[kind], report.errors.total()) << report.first_error;
}

inline void answer_forever(http::testing::RawPeer& peer, std::string_view response) {
  while (peer.read_request() && peer.send(response)) {
  }
}

}  // namespace sennit::load::testing
