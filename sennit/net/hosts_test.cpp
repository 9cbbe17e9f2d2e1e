#include "sennit/net/hosts.hpp"

#include <gtest/gtest.h>

namespace sennit::net {
namespace {

std::string hosts_found(const Hosts& hosts, std::string_view name) {
  std::string all;
  for (const Address& address : hosts.find(name)) all += address.to_string() + " ";
  return all;
}

TEST(Hosts, FindsNamesAndAliasesInBothFamilies) {
  const Hosts hosts = Hosts::parse(
      "# comment\n"
      "127.0.0.1\tlocalhost\n"
      "::1 localhost ip6-localhost # another\r\n"
      "  10.1.2.3   Database.Internal db\n"
      "\n"
      "10.1.2.4 db");
  EXPECT_EQ(hosts_found(hosts, "localhost"), "127.0.0.1:0 [::1]:0 ");
  EXPECT_EQ(hosts_found(hosts, "database.INTERNAL"), "10.1.2.3:0 ");
  EXPECT_EQ(hosts_found(hosts, "db"), "10.1.2.3:0 10.1.2.4:0 ");
  EXPECT_EQ(hosts_found(hosts, "another"), "");
  EXPECT_EQ(hosts_found(hosts, ""), "");
}

TEST(Hosts, SkipsLinesThatSayNothingSensible) {
  const Hosts hosts =
      Hosts::parse("localhost name\nnot-an-address name\n1.2.3 name\n1.2.3.4\n1.2.3.4#name\n\t\n" +
                   std::string(10'000, '1') + " name\n1.2.3.4 " + std::string(300, 'n') + " ok\n");
  EXPECT_EQ(hosts_found(hosts, "name"), "");
  EXPECT_EQ(hosts.name_count(), 1U);
  EXPECT_EQ(hosts_found(hosts, "ok"), "1.2.3.4:0 ");
}

TEST(Hosts, KeepsToItsLimits) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "10.0.0." + std::to_string(i) + " same other" + std::to_string(i) + "\n";
  }
  const Hosts hosts = Hosts::parse(text, {.names_max = 10, .addresses_per_name_max = 3});
  EXPECT_EQ(hosts.name_count(), 10U);
  EXPECT_EQ(hosts.find("same").size(), 3U);
}

}  // namespace
}  // namespace sennit::net
