#include "sennit/shm/testing/places.hpp"

#include <string>
#include <unistd.h>
#include <utility>

namespace sennit::shm::testing {
namespace {

unsigned next() {
  static unsigned count = 0;
  return count++;
}

std::string unique() { return std::to_string(::getpid()) + "-" + std::to_string(next()); }

}  // namespace

Places::~Places() {
  for (const Place& place : made_) static_cast<void>(Segment::remove(place));
}

Place Places::posix() { return keep(Place::posix("/sennit-test-" + unique())); }
Place Places::file() { return keep(Place::file("/tmp/sennit-test-" + unique())); }
Place Places::sysv() {
  const unsigned process = static_cast<unsigned>(::getpid()) & 0x3fffff;
  return keep(Place::sysv(static_cast<std::int32_t>((next() % 256) << 22 | process) | 1 << 30));
}

Place Places::keep(Place place) {
  static_cast<void>(Segment::remove(place));
  made_.push_back(place);
  return place;
}

}  // namespace sennit::shm::testing
