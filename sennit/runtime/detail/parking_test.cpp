#include "sennit/runtime/detail/parking.hpp"

#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace sennit::runtime::detail {
namespace {

struct NoteJob : Job {
  NoteJob(std::string& t, char l, bool* d = nullptr)
      : Job([](Job& job) {
          auto& self = static_cast<NoteJob&>(job);
          self.text += self.letter;
          if (self.done != nullptr) *self.done = true;
        }),
        text(t),
        letter(l),
        done(d) {}
  std::string& text;
  char letter;
  bool* done;
};

TEST(Parking, RunsJobsInOrderOnTheThreadThatWaits) {
  std::string text;
  bool done = false;
  NoteJob a(text, 'a'), b(text, 'b'), last(text, 'c', &done), beyond(text, 'd');
  Parking parking;
  parking.post(a);
  parking.post(b);
  std::thread other([&] {
    parking.post(last);
    parking.post(beyond);
  });
  parking.run_until(done);
  EXPECT_EQ(text, "abc") << "what comes after is left";
  other.join();
}

TEST(ThreadWaiter, MayBeDestroyedAsSoonAsItIsWoken) {
  for (int i = 0; i < 200; ++i) {
    auto waiter = std::make_unique<ThreadWaiter>();
    std::thread other([&waiter = *waiter] { waiter.wake(); });
    waiter->block();
    waiter.reset();
    other.join();
  }
}

}  // namespace
}  // namespace sennit::runtime::detail
