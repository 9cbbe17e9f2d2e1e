#pragma once
// BackendTest: a GoogleTest fixture whose tests run once on each I/O backend.
//
//   using MyTest = sennit::runtime::testing::BackendTest;
//   TEST_P(MyTest, DoesSomething) { runtime().run([] { ... }); }
//   SENNIT_FOR_EACH_BACKEND(MyTest);             on the real ones, and on
//   SENNIT_FOR_EACH_BACKEND_AND_SIMULATED(MyTest);  the simulated one: for bodies that neither
//   start
//                                                threads nor touch sockets of the real kernel
//
// Where the kernel refuses io_uring its tests are skipped and say why; with SENNIT_REQUIRE_URING=1
// in the environment they fail instead.

#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "sennit/base/log.hpp"
#include "sennit/runtime/runtime.hpp"

namespace sennit::runtime::testing {

class BackendTest : public ::testing::TestWithParam<io::BackendKind> {
 protected:
  void SetUp() override {
    if (GetParam() != io::BackendKind::uring) return;
    const std::string refusal = io::uring_refusal();
    if (refusal.empty()) return;
    const char* required = std::getenv("SENNIT_REQUIRE_URING");
    if (required != nullptr && std::string(required) == "1") {
      FAIL() << "io_uring is required and refused: " << refusal;
    }
    GTEST_SKIP() << "io_uring is refused: " << refusal;
  }

  [[nodiscard]] virtual RuntimeOptions options() const {
    RuntimeOptions wanted;
    wanted.backend = GetParam();
    wanted.workers = 2;
    wanted.seed = 1;
    wanted.stacks.usable_bytes = std::size_t{256} * 1024;  // Room for sanitizers' frames.
    return wanted;
  }

  /// Made at first use.
  Runtime& runtime() {
    if (runtime_ == nullptr) {
      const log::Level quiet = log::Level::warning;
      log::set_level(quiet);
      auto started = Runtime::start(options());
      SENNIT_ASSERT(started.has_value(), started.error().to_string());
      runtime_ = *std::move(started);
    }
    return *runtime_;
  }
  void stop_runtime() { runtime_.reset(); }

 private:
  std::unique_ptr<Runtime> runtime_;
};

inline std::string backend_test_name(const ::testing::TestParamInfo<io::BackendKind>& info) {
  if (info.param == io::BackendKind::simulated) return "simulated";
  return info.param == io::BackendKind::uring ? "io_uring" : "epoll";
}

}  // namespace sennit::runtime::testing

#define SENNIT_FOR_EACH_BACKEND(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(OnEachBackend, suite,                                         \
                           ::testing::Values(::sennit::runtime::io::BackendKind::epoll,  \
                                             ::sennit::runtime::io::BackendKind::uring), \
                           ::sennit::runtime::testing::backend_test_name)

#define SENNIT_FOR_EACH_BACKEND_AND_SIMULATED(suite)                                         \
  INSTANTIATE_TEST_SUITE_P(OnEachBackend, suite,                                             \
                           ::testing::Values(::sennit::runtime::io::BackendKind::epoll,      \
                                             ::sennit::runtime::io::BackendKind::uring,      \
                                             ::sennit::runtime::io::BackendKind::simulated), \
                           ::sennit::runtime::testing::backend_test_name)
