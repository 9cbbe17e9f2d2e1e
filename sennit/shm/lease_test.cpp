#include "sennit/shm/lease.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sennit/shm/testing/child.hpp"
#include "sennit/shm/testing/places.hpp"

namespace sennit::shm {
namespace {

using testing::Child;

class LeaseTest : public ::testing::Test {
 protected:
  static Segment make(const Place& place) {
    Layout layout;
    layout.body_bytes = 64;
    auto made = Segment::create(place, layout);
    EXPECT_TRUE(made) << made.error().to_string();
    return std::move(*made);
  }
  static std::atomic<std::uint64_t>& word(const Segment& segment) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(segment.body().data());
  }
  testing::Places places_;
};

TEST_F(LeaseTest, ASecondOwnerIsRefusedWhileTheFirstLives) {
  for (const Place& place : places_.named()) {
    SCOPED_TRACE(place.to_string());
    Segment segment = make(place);
    auto first = OwnerLease::acquire(segment);
    ASSERT_TRUE(first) << first.error().to_string();
    EXPECT_FALSE(first->took_over());
    EXPECT_EQ(OwnerLease::acquire(segment).error().code(), Errc::already_exists);
    auto again = Segment::open(place, Access::read_write);
    ASSERT_TRUE(again);
    EXPECT_EQ(OwnerLease::acquire(*again).error().code(), Errc::already_exists);
    EXPECT_TRUE(OwnerLease::acquire(*again, Role::consumer)) << "roles are apart";
    Child child([&] {
      auto there = Segment::open(place, Access::read_write);
      const auto refused = OwnerLease::acquire(*there);
      return !refused && refused.error().to_string().find("process") != std::string::npos ? 0 : 1;
    });
    EXPECT_EQ(child.join(), 0);
    first->release();
    auto second = OwnerLease::acquire(*again);
    ASSERT_TRUE(second) << second.error().to_string();
    EXPECT_FALSE(second->took_over());
  }
}

TEST_F(LeaseTest, AKilledOwnerIsTakenOverFromAndAStoppedOneIsNot) {
  for (const Place& place : places_.named()) {
    SCOPED_TRACE(place.to_string());
    Segment segment = make(place);
    Child child([&] {
      auto there = Segment::open(place, Access::read_write);
      const auto lease = OwnerLease::acquire(*there);
      word(*there).store(lease ? 1 : 2);
      for (;;) ::pause();
      return 0;
    });
    ASSERT_TRUE(child.wait_until([&] { return word(segment).load() != 0; }));
    EXPECT_EQ(owner_pid(segment, Role::writer), child.pid());
    child.stop();
    EXPECT_EQ(OwnerLease::acquire(segment).error().code(), Errc::already_exists);
    EXPECT_FALSE(owner_is_dead(segment, Role::writer));
    child.kill();
    child.join();
    EXPECT_TRUE(owner_is_dead(segment, Role::writer));
    EXPECT_FALSE(Segment::open(place, Access::read_only)->info().is_clean);
    auto lease = OwnerLease::acquire(segment);
    ASSERT_TRUE(lease) << lease.error().to_string();
    EXPECT_TRUE(lease->took_over());
    EXPECT_EQ(segment.header().leases[0].takeover_count, 1u);
    lease->release();
    EXPECT_TRUE(Segment::open(place, Access::read_only)->info().is_clean);
    EXPECT_FALSE(OwnerLease::acquire(segment)->took_over());
  }
}

TEST_F(LeaseTest, AZombieOwnsNothing) {
  Segment segment = make(Place::anonymous());
  Child child([&] {
    auto lease = OwnerLease::acquire(segment);
    word(segment).store(1);
    ::_exit(lease ? 0 : 1);
    return 0;
  });
  ASSERT_TRUE(child.wait_until([&] { return word(segment).load() == 1; }));
  // Not reaped: waited for without taking its status.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  auto lease = OwnerLease::acquire(segment);
  ASSERT_TRUE(lease) << lease.error().to_string();
  EXPECT_TRUE(lease->took_over());
}

TEST_F(LeaseTest, AnotherProcessWithTheSameIdIsNotTheOwner) {
  Segment segment = make(Place::anonymous());
  auto lease = OwnerLease::acquire(segment);
  ASSERT_TRUE(lease);
  EXPECT_FALSE(owner_is_dead(segment, Role::writer));
  segment.header().leases[0].owner ^= std::uint64_t{1} << 30;  // Started at another time.
  EXPECT_TRUE(owner_is_dead(segment, Role::writer));
}

TEST_F(LeaseTest, AChildThatSharesTheLockDoesNotKeepItForItsDeadParent) {
  const Place place = places_.posix();
  Segment segment = make(place);
  Child parent([&] {
    auto there = Segment::open(place, Access::read_write);
    auto lease = OwnerLease::acquire(*there);
    if (::fork() == 0) {
      word(*there).store(lease ? static_cast<std::uint64_t>(::getpid()) : 1);
      ::alarm(60);
      for (;;) ::pause();
    }
    for (;;) ::pause();
    return 0;
  });
  ASSERT_TRUE(parent.wait_until([&] { return word(segment).load() > 1; }));
  EXPECT_EQ(OwnerLease::acquire(segment).error().code(), Errc::already_exists);
  parent.kill();
  parent.join();
  auto lease = OwnerLease::acquire(segment);
  EXPECT_TRUE(lease) << lease.error().to_string();
  ::kill(static_cast<int>(word(segment).load()), SIGKILL);
}

TEST_F(LeaseTest, AReaderCannotOwn) {
  const Place place = places_.posix();
  static_cast<void>(make(place));
  auto reader = Segment::open(place, Access::read_only);
  ASSERT_TRUE(reader);
  EXPECT_EQ(OwnerLease::acquire(*reader).error().code(), Errc::permission_denied);
}

TEST_F(LeaseTest, LeavesTheSegmentUncleanAfterDamage) {
  const Place place = places_.file();
  Segment segment = make(place);
  auto lease = OwnerLease::acquire(segment);
  ASSERT_TRUE(lease);
  segment.mark_damaged();
  lease->release();
  EXPECT_TRUE(Segment::open(place, Access::read_only)->info().is_damaged);
}

}  // namespace
}  // namespace sennit::shm
