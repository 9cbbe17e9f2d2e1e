// Taken from the library by a program that has no main() of its own.

#include "sennit/perftest/perftest.hpp"

PERF_TEST_MAIN
