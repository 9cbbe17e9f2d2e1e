#include "sennit/runtime/context.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sennit::runtime {
namespace {

constexpr ContextKey<std::string> tenant_key{"tenant"};
constexpr ContextKey<std::string> other_key{"tenant"};
constexpr ContextKey<int> priority_key{"priority"};

TEST(ContextTest, FindsWhatWasSetByItsKeyAlone) {
  Context context;
  EXPECT_EQ(context.find(tenant_key), nullptr);
  context.set(tenant_key, "blue");
  context.set(priority_key, 3);
  EXPECT_EQ(*context.find(tenant_key), "blue");
  EXPECT_EQ(*context.find(priority_key), 3);
  EXPECT_EQ(context.find(other_key), nullptr) << "a key is more than its name";
  context.set(tenant_key, "red");
  EXPECT_EQ(*context.find(tenant_key), "red");
}

TEST(ContextTest, IsHandedDownAndNotUp) {
  Context parent;
  parent.set(tenant_key, "blue");
  parent.trace = {.high = 1, .low = 2};
  Context child = parent;
  child.set(tenant_key, "red");
  child.set(priority_key, 1);
  child.trace = {};
  EXPECT_EQ(*parent.find(tenant_key), "blue");
  EXPECT_EQ(parent.find(priority_key), nullptr);
  EXPECT_TRUE(parent.trace);
  EXPECT_FALSE(child.trace);
  parent = Context();
  EXPECT_EQ(*child.find(tenant_key), "red") << "it outlives where it was inherited from";
}

}  // namespace
}  // namespace sennit::runtime
