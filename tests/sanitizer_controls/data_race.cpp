// A defect on purpose: two writers of one variable, as threads and then as fibers of two workers.
// ThreadSanitizer must report each; a sanitizer that has gone silent is noticed here.
//
//   data_race threads | fibers

#include <cstdio>
#include <string_view>
#include <thread>

#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit {
namespace {

int shared_number = 0;

void write_often() {
  for (int i = 0; i < 1000; ++i) shared_number = shared_number + 1;
}

void race_fibers() {
  RuntimeOptions options;
  options.workers = 2;
  options.backend = runtime::io::BackendKind::epoll;
  options.stacks.usable_bytes = std::size_t{256} * 1024;
  auto runtime = Runtime::start(options);
  const auto body = [] {
    for (int i = 0; i < 20; ++i) {
      write_often();
      wait(sleep_for(std::chrono::microseconds(200)));
    }
  };
  std::thread other([&] { (*runtime)->run(body, 1); });
  (*runtime)->run(body, 0);
  other.join();
}

}  // namespace
}  // namespace sennit

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "fibers") {
    sennit::race_fibers();
  } else {
    std::thread other(sennit::write_often);
    sennit::write_often();
    other.join();
  }
  std::printf("the race was not reported (%d)\n", sennit::shared_number);
  return 0;
}
