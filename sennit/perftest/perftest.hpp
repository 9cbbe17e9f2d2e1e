#pragma once
// Performance unit tests for GoogleTest: PERF_TEST and its kin, beside the TESTs of the same code.
//
//   PERF_TEST(Pid, Get) { ::getppid(); }
//
// The body is called over and over for a while; then the count, the time and the rate are shown:
//
//        count: 25,369,636
//         time: 1.508939 s
//           HZ: 16,812,897.009090
//         1/HZ: 0.000000059 s
//
// Each form of GoogleTest has one: PERF_TEST, PERF_TEST_F, PERF_TEST_P, TYPED_PERF_TEST,
// TYPED_PERF_TEST_P; with _OPT(..., hz, ms) for a fixed rate and time (negative: the default); and
// with _WITH(..., .threads = 2, .latency = true) for any of Options (options.hpp). A body may use
// the fixture, every assertion, `perf_thread` (body.hpp) to know its thread, and end early:
//
//   ASSERT_NE(found, nullptr) << PERF_ABORT;
//
// A fatal failure without it ends the test too, after the batch of calls it is in.
//
// The macros and the flags are those of gtestx, whose tests need another include and nothing else.
// Works with GoogleTest 1.12 to 1.16. Linking sennit::perftest brings a main(), unless there is
// one. Thread safety: as GoogleTest's; with .threads the body runs on one object from all of them
// at once.

#include <gtest/gtest.h>

#include "sennit/perftest/body.hpp"
#include "sennit/perftest/do_not_optimize.hpp"
#include "sennit/perftest/faster.hpp"
#include "sennit/perftest/options.hpp"

namespace sennit::perftest {

namespace detail {
struct PerfCalls;  // Calls a test's body as measure() does (detail/session.hpp).
}

/// What the macros add to a fixture. All its names begin with perf_, so that none hides one of the
/// fixture's or of the body's.
class Perf {
 public:
  virtual ~Perf() = default;

  /// Ends the measurement after this call.
  void perf_abort();

 protected:
  /// Measures, prints and keeps the result for the report.
  void perf_run();

 private:
  class PerfBody;
  friend struct detail::PerfCalls;
  virtual void perf_calls(Batch& batch) = 0;
  [[nodiscard]] virtual Options perf_options() const = 0;

  Body* perf_running_ = nullptr;  // During perf_run().
};

/// Takes our flags and GoogleTest's out of the arguments, runs the tests and writes the reports.
/// Returns the exit status: that of the tests, or 1 for a wrong flag, a report that could not be
/// written or a regression against the baseline.
int run_all(int argc, char** argv);

}  // namespace sennit::perftest

#define PERF_ABORT (this->perf_abort(), "perf loop aborted")

#define PERF_TEST_MAIN \
  int main(int argc, char** argv) { return ::sennit::perftest::run_all(argc, argv); }

// What each test's class holds: the loop, which sees the body and can inline it. The compiler must
// take every call for one that reads and writes memory, as if the body stood elsewhere.
#define SENNIT_PERF_MEMBERS(...)                                              \
 private:                                                                     \
  void TestBody() override { ::sennit::perftest::Perf::perf_run(); }          \
  ::sennit::perftest::Options perf_options() const override {                 \
    return ::sennit::perftest::Options{__VA_ARGS__};                          \
  }                                                                           \
  void perf_calls(::sennit::perftest::Batch& perf_batch) override {           \
    for (; perf_batch.left > 0 && !perf_batch.stopped(); --perf_batch.left) { \
      perf_body(perf_batch.thread);                                           \
      ::sennit::perftest::clobber_memory();                                   \
    }                                                                         \
  }                                                                           \
  inline void perf_body(const ::sennit::perftest::Thread& perf_thread)

#define SENNIT_PERF_PARAMETER [[maybe_unused]] const ::sennit::perftest::Thread& perf_thread
#define SENNIT_PERF_CLASS(suite, name) suite##_##name##_PerfTest
#define SENNIT_PERF_OPT(rate, milliseconds) \
  .hz = static_cast<double>(rate), .time_ms = static_cast<int>(milliseconds)

#define SENNIT_PERF_TEST(suite, name, fixture, ...)                                             \
  class SENNIT_PERF_CLASS(suite, name) : public fixture, public ::sennit::perftest::Perf {      \
    SENNIT_PERF_MEMBERS(__VA_ARGS__);                                                           \
    [[maybe_unused]] static ::testing::TestInfo* const perf_registered_;                        \
  };                                                                                            \
  ::testing::TestInfo* const SENNIT_PERF_CLASS(suite, name)::perf_registered_ =                 \
      ::testing::RegisterTest(#suite, #name, nullptr, nullptr, __FILE__, __LINE__,              \
                              []() -> fixture* { return new SENNIT_PERF_CLASS(suite, name); }); \
  void SENNIT_PERF_CLASS(suite, name)::perf_body(SENNIT_PERF_PARAMETER)

#define PERF_TEST_WITH(suite, name, ...) SENNIT_PERF_TEST(suite, name, ::testing::Test, __VA_ARGS__)
#define PERF_TEST(suite, name) PERF_TEST_WITH(suite, name, )
#define PERF_TEST_OPT(suite, name, hz, ms) PERF_TEST_WITH(suite, name, SENNIT_PERF_OPT(hz, ms))

#define PERF_TEST_F_WITH(fixture, name, ...) SENNIT_PERF_TEST(fixture, name, fixture, __VA_ARGS__)
#define PERF_TEST_F(fixture, name) PERF_TEST_F_WITH(fixture, name, )
#define PERF_TEST_F_OPT(fixture, name, hz, ms) \
  PERF_TEST_F_WITH(fixture, name, SENNIT_PERF_OPT(hz, ms))

// From here on as GoogleTest registers its own (1.12 to 1.16), for which it has no public function.
#define PERF_TEST_P_WITH(fixture, name, ...)                                                 \
  class SENNIT_PERF_CLASS(fixture, name) : public fixture, public ::sennit::perftest::Perf { \
    SENNIT_PERF_MEMBERS(__VA_ARGS__);                                                        \
    static bool perf_register() {                                                            \
      ::testing::UnitTest::GetInstance()                                                     \
          ->parameterized_test_registry()                                                    \
          .GetTestSuitePatternHolder<fixture>(                                               \
              #fixture, ::testing::internal::CodeLocation(__FILE__, __LINE__))               \
          ->AddTestPattern(                                                                  \
              #fixture, #name,                                                               \
              new ::testing::internal::TestMetaFactory<SENNIT_PERF_CLASS(fixture, name)>(),  \
              ::testing::internal::CodeLocation(__FILE__, __LINE__));                        \
      return true;                                                                           \
    }                                                                                        \
    [[maybe_unused]] static const bool perf_registered_;                                     \
  };                                                                                         \
  const bool SENNIT_PERF_CLASS(fixture, name)::perf_registered_ =                            \
      SENNIT_PERF_CLASS(fixture, name)::perf_register();                                     \
  void SENNIT_PERF_CLASS(fixture, name)::perf_body(SENNIT_PERF_PARAMETER)
#define PERF_TEST_P(fixture, name) PERF_TEST_P_WITH(fixture, name, )
#define PERF_TEST_P_OPT(fixture, name, hz, ms) \
  PERF_TEST_P_WITH(fixture, name, SENNIT_PERF_OPT(hz, ms))

#define SENNIT_PERF_TYPED_CLASS(class_name, suite, ...)                         \
  template <class perf_Type>                                                    \
  class class_name : public suite<perf_Type>, public ::sennit::perftest::Perf { \
    using TestFixture = suite<perf_Type>;                                       \
    using TypeParam = perf_Type;                                                \
    SENNIT_PERF_MEMBERS(__VA_ARGS__);                                           \
  };

#define TYPED_PERF_TEST_WITH(suite, name, ...)                                                     \
  SENNIT_PERF_TYPED_CLASS(SENNIT_PERF_CLASS(suite, name), suite, __VA_ARGS__)                      \
  [[maybe_unused]] static const bool perf_##suite##_##name##_registered =                          \
      ::testing::internal::TypeParameterizedTest<                                                  \
          suite, ::testing::internal::TemplateSel<SENNIT_PERF_CLASS(suite, name)>,                 \
          GTEST_TYPE_PARAMS_(                                                                      \
              suite)>::Register("", ::testing::internal::CodeLocation(__FILE__, __LINE__), #suite, \
                                #name, 0,                                                          \
                                ::testing::internal::GenerateNames<GTEST_NAME_GENERATOR_(suite),   \
                                                                   GTEST_TYPE_PARAMS_(suite)>());  \
  template <class perf_Type>                                                                       \
  void SENNIT_PERF_CLASS(suite, name)<perf_Type>::perf_body(SENNIT_PERF_PARAMETER)
#define TYPED_PERF_TEST(suite, name) TYPED_PERF_TEST_WITH(suite, name, )
#define TYPED_PERF_TEST_OPT(suite, name, hz, ms) \
  TYPED_PERF_TEST_WITH(suite, name, SENNIT_PERF_OPT(hz, ms))

#define TYPED_PERF_TEST_P_WITH(suite, name, ...)                                             \
  namespace GTEST_SUITE_NAMESPACE_(suite) {                                                  \
  SENNIT_PERF_TYPED_CLASS(name, suite, __VA_ARGS__)                                          \
  [[maybe_unused]] static const bool perf_##name##_defined =                                 \
      GTEST_TYPED_TEST_SUITE_P_STATE_(suite).AddTestName(__FILE__, __LINE__, #suite, #name); \
  }                                                                                          \
  template <class perf_Type>                                                                 \
  void GTEST_SUITE_NAMESPACE_(suite)::name<perf_Type>::perf_body(SENNIT_PERF_PARAMETER)
#define TYPED_PERF_TEST_P(suite, name) TYPED_PERF_TEST_P_WITH(suite, name, )
#define TYPED_PERF_TEST_P_OPT(suite, name, hz, ms) \
  TYPED_PERF_TEST_P_WITH(suite, name, SENNIT_PERF_OPT(hz, ms))

// gtestx's names for what GoogleTest has since renamed.
#define TYPED_PERF_TEST_CASE(suite, types) TYPED_TEST_SUITE(suite, types)
#define TYPED_PERF_TEST_CASE_P(suite) TYPED_TEST_SUITE_P(suite)
#define REGISTER_TYPED_PERF_TEST_CASE_P(suite, ...) REGISTER_TYPED_TEST_SUITE_P(suite, __VA_ARGS__)
#define INSTANTIATE_TYPED_PERF_TEST_CASE_P(prefix, suite, types) \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, suite, types)
