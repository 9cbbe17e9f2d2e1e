#include "sennit/shm/segment.hpp"

#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sennit/shm/detail/backing.hpp"
#include "sennit/shm/testing/child.hpp"
#include "sennit/shm/testing/places.hpp"
#include "sennit/shm/testing/stop_writer.hpp"

namespace sennit::shm {
namespace {

using testing::Child;
using testing::StopWriter;

class SegmentTest : public ::testing::Test {
 protected:
  static Layout layout(std::uint64_t bytes = 8192, std::uint64_t bytes_max = 0) {
    Layout made;
    made.body_bytes = bytes;
    made.body_bytes_max = bytes_max;
    made.label = "test";
    return made;
  }
  static std::atomic<std::uint64_t>& word(const Segment& segment, std::size_t index = 0) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(segment.body().data())[index];
  }
  testing::Places places_;
};

TEST_F(SegmentTest, WhatOneProcessWritesAnotherReads) {
  for (const Place& place : places_.named()) {
    SCOPED_TRACE(place.to_string());
    auto made = Segment::create(place, layout());
    ASSERT_TRUE(made) << made.error().to_string();
    word(*made).store(42);
    Child child([&] {
      auto there = Segment::open(place, Access::read_write);
      if (!there || there->info().label != "test" || word(*there).load() != 42) return 1;
      word(*there, 1).store(43);
      return 0;
    });
    EXPECT_EQ(child.join(), 0);
    EXPECT_EQ(word(*made, 1).load(), 43u);
    const auto reader = Segment::open(place, Access::read_only);
    ASSERT_TRUE(reader) << reader.error().to_string();
    EXPECT_EQ(word(*reader, 1).load(), 43u);
    EXPECT_FALSE(reader->is_writable());
  }
}

TEST_F(SegmentTest, ExclusiveMeansExclusive) {
  for (const Place& place : places_.named()) {
    ASSERT_TRUE(Segment::create(place, layout()));
    const auto second = Segment::create(place, layout());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Errc::already_exists) << second.error().to_string();
    EXPECT_NE(second.error().to_string().find(place.to_string()), std::string::npos);
  }
}

TEST_F(SegmentTest, RemovedIsNotFoundButStaysMapped) {
  for (const Place& place : places_.named()) {
    EXPECT_EQ(Segment::open(place, Access::read_only).error().code(), Errc::not_found);
    EXPECT_EQ(Segment::remove(place).error().code(), Errc::not_found);
    auto made = Segment::create(place, layout());
    ASSERT_TRUE(made);
    ASSERT_TRUE(Segment::remove(place));
    word(*made).store(1);
    EXPECT_EQ(Segment::open(place, Access::read_only).error().code(), Errc::not_found);
  }
  EXPECT_EQ(Segment::remove(Place::heap()).error().code(), Errc::invalid_argument);
  EXPECT_EQ(Segment::open(Place::heap(), Access::read_only).error().code(), Errc::invalid_argument);
}

TEST_F(SegmentTest, CreateIfMissingOpensWhatIsThere) {
  for (const Place& place : places_.named()) {
    auto first = Segment::open_or_create(place, layout());
    ASSERT_TRUE(first) << first.error().to_string();
    EXPECT_TRUE(first->was_created());
    word(*first).store(7);
    auto second = Segment::open_or_create(place, layout(16384));
    ASSERT_TRUE(second) << second.error().to_string();
    EXPECT_FALSE(second->was_created());
    EXPECT_EQ(word(*second).load(), 7u);
    EXPECT_EQ(second->body().size(), 8192u);
    Layout other = layout();
    other.kind = Kind::queue;
    EXPECT_EQ(Segment::open_or_create(place, other).error().code(), Errc::invalid_argument);
  }
}

TEST_F(SegmentTest, GrowsKeepingTheDataAndTheAddress) {
  auto cases = places_.named();
  cases.push_back(Place::heap());
  cases.push_back(Place::anonymous());
  cases.push_back(Place::memfd("grows"));
  for (const Place& place : cases) {
    SCOPED_TRACE(place.to_string());
    auto made = Segment::create(place, layout(8192, 1 << 20));
    ASSERT_TRUE(made) << made.error().to_string();
    word(*made).store(7);
    const auto* const before = made->body().data();
    const auto grown = made->grow(1 << 20, {5});
    ASSERT_TRUE(grown) << grown.error().to_string();
    EXPECT_EQ(made->body().data(), before);
    EXPECT_EQ(made->body().size(), std::size_t{1} << 20);
    EXPECT_EQ(word(*made).load(), 7u);
    EXPECT_EQ(word(*made, (1 << 17) - 1).load(), 0u);
    word(*made, (1 << 17) - 1).store(1);
    EXPECT_EQ(made->grow((1 << 20) + 1, {}).error().code(), Errc::limit_reached);
    EXPECT_EQ(made->grow(100, {}).error().code(), Errc::invalid_argument);
  }
}

TEST_F(SegmentTest, OthersSeeWhatWasGrownWhenTheyLook) {
  const Place place = places_.posix();
  auto made = Segment::create(place, layout(8192, 1 << 20));
  auto reader = Segment::open(place, Access::read_only);
  ASSERT_TRUE(made && reader);
  ASSERT_TRUE(made->grow(65536, {9}));
  word(*made, 8191).store(3);
  EXPECT_EQ(reader->info().geometry[0], 0u);
  ASSERT_TRUE(reader->refresh());
  EXPECT_EQ(reader->info().geometry[0], 9u);
  EXPECT_EQ(word(*reader, 8191).load(), 3u);
  EXPECT_EQ(reader->grow(1 << 17, {}).error().code(), Errc::permission_denied);
}

TEST_F(SegmentTest, AWriterStoppedAnywhereInGrowLeavesTheOldExtentOrTheNew) {
  const Place place = places_.posix();
  auto made = Segment::create(place, layout(8192, 1 << 20));
  ASSERT_TRUE(made);
  int stops = 0;
  while (StopWriter::stops_at(stops, [&] { static_cast<void>(made->grow(65536, {9})); })) {
    const auto there = Segment::open(place, Access::read_only);
    ASSERT_TRUE(there) << stops << there.error().to_string();
    EXPECT_EQ(there->info().bytes, header_bytes + 8192);
    ++stops;
  }
  EXPECT_GT(stops, 10);
  EXPECT_EQ(Segment::open(place, Access::read_only)->info().bytes, header_bytes + 65536);
}

TEST_F(SegmentTest, PermissionsAreExactlyThoseAskedFor) {
  CreateOptions options;
  options.permissions = 0646;
  for (const Place& place : {places_.posix(), places_.file()}) {
    const auto made = Segment::create(place, layout(), options);
    ASSERT_TRUE(made);
    struct stat status{};
    ASSERT_EQ(::fstat(made->descriptor(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0646u);
  }
}

TEST_F(SegmentTest, WhatTheSystemRefusesIsSaid) {
  const auto none = Segment::create(Place::file("/nowhere/at/all"), layout());
  EXPECT_EQ(none.error().code(), Errc::not_found);
  EXPECT_NE(none.error().to_string().find("ENOENT"), std::string::npos);
  EXPECT_FALSE(Segment::open(Place::file("/dev/null"), Access::read_only));
  EXPECT_FALSE(Segment::open(Place::file("/tmp"), Access::read_only));
  const Place fifo = places_.file();
  ASSERT_EQ(::mkfifo(fifo.name.c_str(), 0600), 0);
  EXPECT_FALSE(Segment::open(fifo, Access::read_only));
  // Where there are no huge pages this is an error with words, where there are it works.
  const Place huge = Place::sysv_huge(0x5e3f0000 + (::getpid() & 0xffff));
  const auto made = Segment::create(huge, layout());
  if (made) {
    EXPECT_TRUE(Segment::remove(huge));
  } else {
    EXPECT_NE(made.error().to_string().find("sysv_huge"), std::string::npos);
  }
}

TEST_F(SegmentTest, AMemfdTravelsOverASocketAndCannotBeCutOff) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  auto made = Segment::create(Place::memfd("travels"), layout());
  ASSERT_TRUE(made) << made.error().to_string();
  word(*made).store(11);
  ASSERT_TRUE(made->send(ends[0]));
  auto there = Segment::receive(ends[1], Access::read_write);
  ASSERT_TRUE(there) << there.error().to_string();
  EXPECT_EQ(word(*there).load(), 11u);
  EXPECT_NE(::ftruncate(there->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(there->descriptor(), 1 << 30), 0);
  ASSERT_EQ(::write(ends[0], "x", 1), 1);
  EXPECT_EQ(Segment::receive(ends[1], Access::read_only).error().code(), Errc::malformed);
  ::close(ends[0]);
  EXPECT_EQ(Segment::receive(ends[1], Access::read_only).error().code(), Errc::closed);
  ::close(ends[1]);
  EXPECT_EQ(Segment::create(Place::heap(), layout())->send(0).error().code(), Errc::unsupported);
}

TEST_F(SegmentTest, AMemfdThatIsNotSealedIsRefused) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Place place = places_.file();
  auto made = Segment::create(place, layout());
  ASSERT_TRUE(made);
  const int open_fd = ::memfd_create("open", MFD_ALLOW_SEALING);
  ASSERT_GE(open_fd, 0);
  ASSERT_EQ(::ftruncate(open_fd, 1 << 20), 0);
  ASSERT_GE(::dup3(open_fd, made->descriptor(), O_CLOEXEC), 0);
  ::close(open_fd);
  ASSERT_TRUE(made->send(ends[0]));
  EXPECT_EQ(Segment::receive(ends[1], Access::read_only).error().code(), Errc::malformed);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(SegmentTest, AFileCutOffWhileMappedBecomesAnErrorNotACrash) {
  // ThreadSanitizer makes an atomic access under a lock that its own signal handling takes again.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a fault inside an atomic access deadlocks ThreadSanitizer";
#endif
#endif
  for (const Place& place : {places_.posix(), places_.file()}) {
    SCOPED_TRACE(place.to_string());
    auto made = Segment::create(place, layout(1 << 16));
    auto reader = Segment::open(place, Access::read_only);
    ASSERT_TRUE(made && reader);
    word(*made, 1024).store(5);
    ASSERT_EQ(::ftruncate(made->descriptor(), 0), 0);
    EXPECT_EQ(word(*reader, 1024).load(), 0u);
    EXPECT_EQ(reader->check().error().code(), Errc::malformed);
    EXPECT_FALSE(made->is_damaged()) << "each finds out for itself";
    word(*made, 2000).store(5);
    EXPECT_TRUE(made->is_damaged());
    EXPECT_FALSE(Segment::open(place, Access::read_only, Duration::zero()));
  }
}

TEST_F(SegmentTest, MarkedAsDamagedItCanBeInspectedButNotUsed) {
  const Place place = places_.posix();
  auto made = Segment::create(place, layout());
  ASSERT_TRUE(made);
  made->mark_damaged();
  EXPECT_FALSE(made->check());
  const auto there = Segment::open(place, Access::read_only);
  ASSERT_TRUE(there);
  EXPECT_TRUE(there->info().is_damaged);
  EXPECT_EQ(expect(there->info(), layout()).error().code(), Errc::malformed);
}

TEST_F(SegmentTest, AMakerStoppedAtAnyStoreIsReplacedOnceItIsDead) {
  for (int stores = 0;; ++stores) {
    for (const Place& place : places_.named()) {
      const bool stopped = StopWriter::stops_at(
          stores, [&] { static_cast<void>(Segment::create(place, layout(64))); });
      if (!stopped) {
        EXPECT_GT(stores, 10);
        return;
      }
      // This process lives, so its unfinished work is waited for, with a bound...
      if (stores > 0) {
        EXPECT_EQ(Segment::open(place, Access::read_only, Duration::zero()).error().code(),
                  Errc::timed_out);
        // ...and once its maker is dead, it is malformed for who opens it and made anew by who may.
        auto backed = detail::Backing::open(place, true);
        ASSERT_TRUE(backed && backed->map(header_bytes));
        reinterpret_cast<HeaderPage*>(backed->base())->maker |= 0x3fffff;
        EXPECT_EQ(Segment::open(place, Access::read_only, Duration::zero()).error().code(),
                  Errc::malformed);
      }
      CreateOptions options;
      options.patience = Duration::zero();
      const auto made = Segment::open_or_create(place, layout(64), options);
      ASSERT_TRUE(made) << stores << " " << made.error().to_string();
      EXPECT_TRUE(made->was_created());
      EXPECT_TRUE(Segment::open(place, Access::read_only, Duration::zero()));
    }
  }
}

TEST_F(SegmentTest, AnEmptyOrForeignFileIsNeverTakenForASegment) {
  const Place place = places_.file();
  const int fd = ::open(place.name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(Segment::open(place, Access::read_only, Duration::zero()).error().code(),
            Errc::timed_out);
  const std::string text(10'000, 'x');
  ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(Segment::open(place, Access::read_only).error().code(), Errc::malformed);
  CreateOptions options;
  options.patience = Duration::zero();
  EXPECT_EQ(Segment::open_or_create(place, layout(), options).error().code(), Errc::malformed);
  char first = 0;
  ASSERT_EQ(::pread(fd, &first, 1, 0), 1);
  EXPECT_EQ(first, 'x');
  ::close(fd);
}

TEST_F(SegmentTest, InitialiseRunsBeforeAnybodyCanOpenIt) {
  const Place place = places_.posix();
  CreateOptions options;
  options.initialise = [&](std::span<std::byte> body) -> Result<> {
    EXPECT_FALSE(Segment::open(place, Access::read_only, Duration::zero()));
    std::memset(body.data(), 1, body.size());
    return {};
  };
  ASSERT_TRUE(Segment::create(place, layout(), options));
  EXPECT_EQ(word(*Segment::open(place, Access::read_only)).load(), 0x0101010101010101u);
  const Place refused = places_.posix();
  options.initialise = [](std::span<std::byte>) -> Result<> {
    return failure(Errc::invalid_argument, "no");
  };
  EXPECT_FALSE(Segment::create(refused, layout(), options));
  EXPECT_EQ(Segment::open(refused, Access::read_only).error().code(), Errc::not_found);
}

}  // namespace
}  // namespace sennit::shm
