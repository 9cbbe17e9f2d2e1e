#include "sennit/perftest/machine.hpp"

#include <gtest/gtest.h>

namespace sennit::perftest {
namespace {

TEST(ProcessorIn, FindsTheModel) {
  EXPECT_EQ(processor_in("processor\t: 0\nmodel\t: 1\nmodel name\t: AMD EPYC \ncache\t: 1\n"),
            "AMD EPYC");
  EXPECT_EQ(processor_in("model name\t: X"), "X");
  EXPECT_EQ(processor_in("model name"), "");
  EXPECT_EQ(processor_in("model name\t: \n"), "");
  EXPECT_EQ(processor_in("processor\t: 0\nCPU part\t: 0xd0c\n"), "");
}

TEST(MachineClass, NamesAFile) {
  const Machine machine{.processor = "Intel(R) Xeon(R) CPU @ 2.60GHz/x",
                        .cores = 4,
                        .compiler = "gcc 12.2.0",
                        .build = "optimized+sanitizers"};
  EXPECT_EQ(machine.machine_class(),
            "intel-r-xeon-r-cpu-2-60ghz-x-4-cores-gcc-12-2-0-optimized-sanitizers");
}

TEST(ThisMachine, IsNamedWhole) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.processor.empty());
  EXPECT_GT(machine.cores, 0U);
  EXPECT_FALSE(machine.compiler.empty());
}

}  // namespace
}  // namespace sennit::perftest
