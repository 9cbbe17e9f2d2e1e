#include "sennit/http/file_body.hpp"

#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace sennit::http {
namespace {

int file_holding(const std::string& content) {
  const int descriptor = ::memfd_create("file_body_test", MFD_CLOEXEC);
  EXPECT_EQ(::write(descriptor, content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  return descriptor;
}

std::string read_all(FileBody& body, std::size_t room_bytes) {
  std::string all;
  std::string room(room_bytes, 0);
  for (;;) {
    const auto got = body.read(room);
    EXPECT_TRUE(got.has_value());
    if (!got || *got == 0) return all;
    all.append(room, 0, *got);
  }
}

TEST(FileBody, GivesTextAndRangesInTheOrderAddedWhateverTheRoom) {
  for (const std::size_t room : {1, 2, 3, 7, 100}) {
    FileBody body(file_holding("0123456789"));
    body.add_text("<");
    body.add_range(2, 3);
    body.add_text("|");
    body.add_range(9, 1);
    body.add_range(0, 0);
    body.add_text(">");
    EXPECT_EQ(body.length(), 7U);
    EXPECT_EQ(read_all(body, room), "<234|9>");
  }
}

TEST(FileBody, TellsThatAFileBecameShorter) {
  FileBody body(file_holding("0123"));
  body.add_range(2, 5);
  std::string room(5, 0);
  const auto got = body.read(room);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code(), Errc::closed);
}

}  // namespace
}  // namespace sennit::http
