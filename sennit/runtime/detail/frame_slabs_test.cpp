#include "sennit/runtime/detail/frame_slabs.hpp"

#include <cstring>
#include <thread>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/runtime.hpp"

namespace sennit::runtime::detail {
namespace {

class FrameSlabsTest : public testing::ManualWorkerTest {};
using FrameSlabsDeathTest = FrameSlabsTest;

void* filled(std::size_t bytes) {
  void* const frame = FrameSlabs::allocate(bytes);
  std::memset(frame, 0x5a, bytes);
  return frame;
}

TEST_F(FrameSlabsTest, LendsTheFrameOfTheSizeFreedLast) {
  run([] {
    void* const first = filled(100);
    void* const second = filled(128);
    void* const larger = filled(129);
    FrameSlabs::free(first);
    FrameSlabs::free(second);
    FrameSlabs::free(larger);
    EXPECT_EQ(FrameSlabs::allocate(1), second) << "the same class of 128 bytes";
    EXPECT_EQ(FrameSlabs::allocate(256), larger);
    EXPECT_EQ(FrameSlabs::allocate(128), first);
    for (void* frame : {first, second, larger}) FrameSlabs::free(frame);
  });
}

TEST_F(FrameSlabsTest, AlignsEverySize) {
  run([] {
    for (const std::size_t bytes : {1, 16, 127, 128, 2048, 2049, 100'000}) {
      void* const frame = filled(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame) % alignof(std::max_align_t), 0U) << bytes;
      FrameSlabs::free(frame);
    }
  });
}

TEST_F(FrameSlabsTest, SurvivesManyFramesAtOnce) {
  run([] {
    for (int round = 0; round < 2; ++round) {
      std::vector<void*> frames;
      for (std::size_t i = 0; i < 10'000; ++i) frames.push_back(filled(1 + i % 2500));
      for (void* frame : frames) FrameSlabs::free(frame);
    }
  });
}

TEST_F(FrameSlabsTest, ServesThreadsThatAreNoWorkersFromTheHeap) {
  void* const outside = filled(100);
  void* made_inside = nullptr;
  run([&] {
    FrameSlabs::free(outside);  // From the heap: anywhere.
    made_inside = filled(100);
  });
  FrameSlabs::free(made_inside);  // Its worker is gone.
}

TEST_F(FrameSlabsDeathTest, StopsWhenAnotherWorkerFreesAFrame) {
  const auto across_workers = [] {
    RuntimeOptions two;
    two.workers = 2;
    two.backend = io::BackendKind::epoll;
    const auto runtime = *Runtime::start(two);
    void* const frame = runtime->run([] { return filled(100); }, 0);
    runtime->run([&] { FrameSlabs::free(frame); }, 1);
  };
  EXPECT_DEATH(across_workers(), "the worker it was made on");
}

}  // namespace
}  // namespace sennit::runtime::detail
