#include "sennit/shm/store.hpp"

#include <array>
#include <gtest/gtest.h>
#include <vector>

#include "sennit/shm/testing/stop_writer.hpp"

namespace sennit::shm {
namespace {

TEST(Store, RacedCopiesKeepEveryByteOfEveryLength) {
  for (std::size_t bytes = 0; bytes <= 130; ++bytes) {
    std::vector<unsigned char> from(bytes), back(bytes);
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<unsigned char>(i + 1);
    std::array<std::uint64_t, 18> words;
    words.fill(~std::uint64_t{0});
    RealStore::copy_raced(words.data(), from.data(), bytes);
    load_raced(back.data(), words.data(), bytes);
    EXPECT_EQ(from, back);
    EXPECT_EQ(words[round_up_to_word(bytes) / 8], ~std::uint64_t{0}) << "wrote past the end";
  }
}

TEST(Store, StopsACopyAtAnyOfItsWords) {
  const std::array<std::uint64_t, 5> from = {1, 2, 3, 4, 5};
  int n = 0;
  std::array<std::uint64_t, 5> to{};
  while (testing::StopWriter::stops_at(
      n, [&] { HookedStore::copy_raced(to.data(), from.data(), sizeof(from)); })) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(to[i], i < n ? from[i] : 0) << n;
    to.fill(0);
    ++n;
  }
  EXPECT_EQ(n, 5);
  EXPECT_EQ(to, from);
}

TEST(Store, DropsWhatComesAfterTheStop) {
  std::atomic<std::uint64_t> first = 0, second = 0;
  struct Late {
    std::atomic<std::uint64_t>& word;
    ~Late() { HookedStore::store(word, 1, std::memory_order_seq_cst); }
  };
  EXPECT_TRUE(testing::StopWriter::stops_at(0, [&] {
    const Late late{second};
    HookedStore::store(first, 1, std::memory_order_seq_cst);
  }));
  EXPECT_EQ(first.load() + second.load(), 0u);
}

}  // namespace
}  // namespace sennit::shm
