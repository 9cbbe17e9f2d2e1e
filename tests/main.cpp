// The main() of every test program: GoogleTest's, and a watchdog that says which test hangs.
//
// A test that runs longer than SENNIT_TEST_SECONDS (300 unless set; 0: for ever) ends its program
// with its name. Without it a test that waits for ever is known only by the name of its module.

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>
#include <unistd.h>

namespace {

constexpr unsigned seconds_default = 300;

// What the handler prints, made when a test starts: a handler must not allocate or format.
struct Message {
  char text[512];
  std::size_t size;

  void add(std::string_view part) {
    const std::size_t count = std::min(part.size(), sizeof text - size);
    std::memcpy(text + size, part.data(), count);
    size += count;
  }
};
Message message;

void report_and_abort(int) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.text, message.size);
  std::abort();  // A core or a sanitizer's report shows where it hangs.
}

unsigned seconds_per_test() {
  const char* value = std::getenv("SENNIT_TEST_SECONDS");
  if (value == nullptr) return seconds_default;
  const std::string_view text = value;
  unsigned seconds = seconds_default;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? seconds : seconds_default;
}

class Watchdog : public testing::EmptyTestEventListener {
 public:
  explicit Watchdog(unsigned seconds) : seconds_(seconds) {}

  void OnTestStart(const testing::TestInfo& test) override {
    message.size = 0;
    message.add("\nThe test ");
    message.add(test.test_suite_name());
    message.add(".");
    message.add(test.name());
    message.add(" runs longer than SENNIT_TEST_SECONDS: it hangs, or the limit is too low here.\n");
    ::alarm(seconds_);
  }
  void OnTestEnd(const testing::TestInfo&) override { ::alarm(0); }

 private:
  unsigned seconds_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (const unsigned seconds = seconds_per_test(); seconds > 0) {
    std::signal(SIGALRM, report_and_abort);
    testing::UnitTest::GetInstance()->listeners().Append(new Watchdog(seconds));
  }
  return RUN_ALL_TESTS();
}
