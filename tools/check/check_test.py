#!/usr/bin/env python3
"""Tests of the checks: each rule must report a violation made for it, and let good code pass."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import headers
import layers
import readme
import tidy
from ratchet import Ratchet
from sources import code_only

HERE = pathlib.Path(__file__).resolve().parent
HEADER = "#pragma once\n// What it is for.\n"
RELAXED = "std::memory_order_relaxed"


class Tree(unittest.TestCase):
    """A small project in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("CMakeLists.txt", "sennit_module(base)\nsennit_module(fiber USES base)\n")
        for module in ("base", "fiber"):
            self.write(f"sennit/{module}/x.hpp", HEADER)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, found, *wanted):
        """Each of `wanted` must occur in exactly one line found, and nothing else be found."""
        self.assertEqual(len(found), len(wanted), found)
        for part in wanted:
            self.assertTrue(any(part in line for line in found), (part, found))


class Layers(Tree):
    def expect_layers(self, *wanted):
        self.expect(list(layers.violations(self.root)), *wanted)

    def test_lets_a_declared_use_pass(self):
        self.write("sennit/fiber/y.cpp", '#include "sennit/base/x.hpp"\n')
        self.expect_layers()

    def test_reports_a_use_that_is_not_declared(self):
        self.write("sennit/base/y.cpp", '\n#include "sennit/fiber/x.hpp"\n')
        self.expect_layers("sennit/base/y.cpp:2: base may not use fiber")

    def test_reports_it_in_assembly_and_with_odd_spacing(self):
        self.write("sennit/base/y.S", ' # include "sennit/fiber/x.hpp"\n')
        self.expect_layers("sennit/base/y.S:1")

    def test_reports_a_use_of_anothers_detail(self):
        self.write("sennit/fiber/y.cpp", '#include "sennit/base/io/detail/x.hpp"\n')
        self.expect_layers("base/detail is private")

    def test_lets_a_module_use_its_own_detail(self):
        self.write("sennit/base/y.cpp", '#include "sennit/base/detail/x.hpp"\n')
        self.expect_layers()

    def test_keeps_testing_folders_to_tests(self):
        include = '#include "sennit/base/testing/x.hpp"\n'
        self.write("sennit/fiber/y_test.cpp", include)
        self.write("sennit/fiber/testing/y.hpp", include)
        self.expect_layers()
        self.write("sennit/fiber/y.cpp", include)
        self.expect_layers("sennit/fiber/y.cpp:1: base/testing is for tests")

    def test_lets_only_performance_tests_use_perftest(self):
        include = '#include "sennit/perftest/x.hpp"\n'
        self.write("sennit/base/y_perf.cpp", include)
        self.expect_layers()
        self.write("sennit/base/y_test.cpp", include)
        self.expect_layers("sennit/base/y_test.cpp:1: base may not use perftest")

    def test_reports_a_folder_without_a_line_and_a_line_without_a_folder(self):
        self.write("sennit/extra/x.hpp", HEADER)
        lines = "sennit_module(base)\nsennit_module(fiber)\nsennit_module(no)\n"
        self.write("CMakeLists.txt", lines)
        self.expect_layers("sennit/extra: no sennit_module line", "sennit_module(no) has no folder")

    def test_reports_a_use_of_a_module_declared_later(self):
        self.write("CMakeLists.txt", "sennit_module(base USES fiber)\nsennit_module(fiber)\n")
        self.expect_layers("base USES fiber, which no line above it declares")

    def test_lets_headers_and_tests_alone_use_what_headers_use(self):
        lines = "sennit_module(base)\nsennit_module(fiber HEADERS_USE base)\n"
        self.write("CMakeLists.txt", lines)
        include = '#include "sennit/base/x.hpp"\n'
        self.write("sennit/fiber/y.hpp", HEADER + include)
        self.write("sennit/fiber/y_test.cpp", include)
        self.expect_layers()
        self.write("sennit/fiber/y.cpp", include)
        self.expect_layers("sennit/fiber/y.cpp:1: fiber may not use base")

    def test_reads_lines_that_span_lines(self):
        text = "sennit_module(base LINKS a::b PRIVATE_LINKS fiber)\n"
        text += "  sennit_module(fiber\n USES\n base\n LINKS c)"
        self.write("CMakeLists.txt", text + "\n# sennit_module(none)\n")
        self.assertEqual(layers.declared_modules(self.root), {"base": [], "fiber": ["base"]})


class Tidy(Tree):
    def expect_tidy(self, name, text, *wanted):
        self.write(name, text)
        ratchet = Ratchet(self.root / "ratchet.txt")
        found = tidy.violations(self.root, ratchet)
        self.expect([line for line in found if "no y_test.cpp" not in line], *wanted)

    def test_reports_each_banned_call_in_the_library(self):
        for call, advice in [
            ("sleep(1);", "wait(sleep_for"),
            ("::usleep(1);", "wait(sleep_for"),
            ("std::this_thread::sleep_for(x);", "wait(sleep_for"),
            ("int x = rand();", "sennit::Random"),
            ("std::mt19937 x;", "sennit::Random"),
            ("std::regex x;", "parse by hand"),
            ("sprintf(a, b);", "fmt::format"),
            ("std::strcpy(a, b);", "fmt::format"),
            ("int x = atoi(a);", "std::from_chars"),
            ("auto x = strtoul(a, b, 10);", "std::from_chars"),
            ("log(strerror(x));", "Error::from_os"),
            ("assert(x);", "SENNIT_ASSERT"),
            ("#include <cassert>", "SENNIT_ASSERT"),
            ("auto x = std::chrono::steady_clock::now();", "sennit::Clock"),
            ("clock_gettime(a, b);", "sennit::Clock"),
            ("std::cout << 1;", "does not print"),
            ("std::printf(a);", "does not print"),
            ("x << std::endl;", "flushes"),
            ("throw x;", "throws nothing"),
            ("thread_local int x;", "current worker"),
            ("using namespace std;", "name what is used"),
            ("using namespace sennit;", "only a program"),
        ]:
            with self.subTest(call):
                self.expect_tidy("sennit/base/y.cpp", f"\n{call}\n", "sennit/base/y.cpp:2")
                self.expect_tidy("sennit/base/y.cpp", f"\n{call}\n", advice)

    def test_lets_what_only_looks_banned_pass(self):
        for line in [
            "static_assert(x);",
            "wait(sleep_for(x));",
            "x.sleep(1);",
            "std::fprintf(stderr, a);",
            'auto x = "rand() TO DO";',
            "// throw rand();",
            "int operand(int);",
            "using namespace std::chrono_literals;",
            "using namespace http::detail;",
            "auto x = 1'000'000; // it's",
        ]:
            with self.subTest(line):
                self.expect_tidy("sennit/base/y.cpp", line + "\n")

    def test_allows_more_in_tests_programs_and_the_one_place_for_it(self):
        self.expect_tidy("sennit/base/z_test.cpp", "sleep(1);\nthrow rand();\n")
        self.expect_tidy("tools/t.cpp", "std::cout << 1;\nusing namespace sennit;\n")
        self.expect_tidy("sennit/base/time.hpp", HEADER + "auto x = steady_clock::now();\n")

    def test_reports_long_lines(self):
        self.expect_tidy("sennit/base/y.cpp", "//" + "x" * 99 + "\n", "101 columns")
        self.expect_tidy("sennit/base/y.cpp", "//" + "x" * 98 + "\n")

    def test_reports_leftovers(self):
        for word in ("FIX" "ME", "TO" "DO", "X" "XX", "HA" "CK"):
            self.expect_tidy("sennit/base/y.cpp", f"// {word}: later\n", f"{word}: do it")

    def test_reports_headers_that_begin_wrong(self):
        self.expect_tidy("sennit/base/y.hpp", "// What for.\n#pragma once\n", "#pragma once")
        self.expect_tidy("sennit/base/y.hpp", "#pragma once\n\nint x;\n", "goes on with a comment")
        self.expect_tidy("sennit/base/y.hpp", HEADER)
        self.expect_tidy("sennit/base/detail/y.hpp", "#pragma once\nint x;\n")

    def test_reports_headers_of_the_system_in_public_headers(self):
        for name in ("sys/socket.h", "liburing.h", "openssl/ssl.h", "unistd.h"):
            include = f"#include <{name}>\n"
            self.expect_tidy("sennit/base/y.hpp", HEADER + include, f"<{name}> in a public header")
            (self.root / "sennit/base/y.hpp").unlink()
            self.expect_tidy("sennit/base/detail/y.hpp", HEADER + include)

    def test_wants_a_reason_for_each_weak_memory_order(self):
        bare = f"f();\nx.load({RELAXED});\n"
        self.expect_tidy("sennit/base/y.cpp", bare, "y.cpp:2: memory_order_relaxed: say")
        self.expect_tidy("sennit/base/y.cpp", f"f();  // No.\nx.load({RELAXED});\n", "y.cpp:2")
        for good in [
            f"x.load({RELAXED});  // Pairs with nothing.\n",
            f"// Pairs with nothing.\nx.load({RELAXED});\n",
            f"// A count.\nx.load({RELAXED});\nx.load({RELAXED});\n",
            f"// Spans lines.\nf(1,\n  x.load({RELAXED}));\n",
            "x.load(std::memory_order_seq_cst);\n",
        ]:
            with self.subTest(good):
                self.expect_tidy("sennit/base/y.cpp", good)

    def test_reports_long_functions(self):
        body = "  f();\n" * 70
        plain = f"int T::g(int x) {{\n{body}}}\n"
        self.expect_tidy("sennit/base/y.cpp", plain, "T::g has 72 lines")
        self.expect_tidy("sennit/base/y.cpp", "int g() {\n" + "  f();\n" * 68 + "}\n")
        lists = f"T::T(int x)\n    : a_{{x}}, b_(x) {{\n{body}}}\n"
        self.expect_tidy("sennit/base/y.cpp", lists, "T::T has 73 lines")
        lambdas = f"class T {{\n int g() const {{\n  h([] {{\n{body} }});\n }}\n}};\n"
        self.expect_tidy("sennit/base/y.cpp", lambdas, "g has 74 lines")
        in_test = f"TEST(Thing, Works) {{\n{body}}}\n"
        self.expect_tidy("sennit/base/y_test.cpp", in_test, "Thing.Works has", "g has 74")

    def test_counts_functions_not_what_holds_them(self):
        functions = "  int g(T x = {}) { return x; }\n" * 90
        text = f"namespace a {{\nclass T {{\n{functions}}};\n}}\n"
        self.expect_tidy("sennit/base/y.cpp", text)

    def test_reports_long_files(self):
        self.expect_tidy("sennit/base/y.cpp", "int x;\n" * 401, "401 lines: at most 400")

    def test_reports_a_concept_without_a_test(self):
        self.write("sennit/base/z.cpp", "int x;\n")
        ratchet = Ratchet(self.root / "ratchet.txt")
        self.expect(list(tidy.violations(self.root, ratchet)), "no z_test.cpp beside it")

    def test_a_ratchet_allows_what_it_records_and_only_goes_down(self):
        record = self.root / "ratchet.txt"
        record.write_text("# Why.\nfile_lines sennit/base/y.cpp 405\n")
        self.expect_tidy("sennit/base/y.cpp", "int x;\n" * 405)
        self.expect_tidy("sennit/base/y.cpp", "int x;\n" * 406, "406 lines")
        self.expect_tidy("sennit/base/y.cpp", "int x;\n" * 402, "recorded as 405 and is now 402")
        ratchet = Ratchet(record)
        list(tidy.violations(self.root, ratchet))
        ratchet.tighten(tidy.RATCHET_RULES)
        self.assertEqual(record.read_text(), "# Why.\nfile_lines sennit/base/y.cpp 402\n")


class Readme(Tree):
    def expect_readme(self, shown, *wanted):
        self.write("examples/e.cpp", "// What it shows.\n\nint main() {}\n")
        self.write("README.md", shown)
        self.expect(list(readme.violations(self.root)), *wanted)

    def test_holds_the_block_to_the_file(self):
        self.expect_readme("<!-- examples/e.cpp -->\n```cpp\nint main() {}\n```\n")
        self.expect_readme("<!-- examples/e.cpp -->\n```cpp\nint man() {}\n```\n", "differs")
        self.expect_readme("<!-- examples/f.cpp -->\n```cpp\nint main() {}\n```\n", "not exist")
        self.expect_readme("nothing\n", "shows no program")

    def test_holds_the_blocks_of_modules_to_their_files(self):
        block = "<!-- examples/e.cpp -->\n```cpp\nint main() {}\n```\n"
        self.write("sennit/base/README.md", block.replace("main", "man"))
        self.expect_readme(block, "sennit/base/README.md: the block for examples/e.cpp differs")
        self.write("sennit/base/README.md", "Nothing shown.\n")
        self.expect_readme(block)

    def test_wants_it_short(self):
        x = "int x;\n" * 16
        self.expect_readme(f"<!-- examples/e.cpp -->\n```cpp\n{x}```\n", "differs", "16 lines")


class Programs(Tree):
    """The checks that run another program, as ctest runs them."""

    def run_check(self, name, *arguments):
        command = [sys.executable, str(HERE / name), *arguments, str(self.root)]
        return subprocess.run(command, capture_output=True, text=True)

    def test_format_reports_a_file_that_is_not_formatted(self):
        self.write("sennit/base/y.cpp", "int  x;\n")
        self.assertIn("y.cpp:1", self.run_check("format.py").stderr)
        self.assertEqual(self.run_check("format.py", "--write").returncode, 0)
        self.assertEqual(self.run_check("format.py").returncode, 0)

    def test_headers_reports_a_header_over_its_budget(self):
        self.assertEqual(self.run_check("headers.py").returncode, 0)
        self.write("sennit/base/y.hpp", HEADER + "// x\nint x;\n" + "int y();\n" * 400_000)
        self.assertIn("y.hpp:1: 36", self.run_check("headers.py").stdout)

    def test_headers_reports_a_header_that_lacks_an_include(self):
        self.write("sennit/base/y.hpp", HEADER + '#include "sennit/base/none.hpp"\n')
        self.assertIn("preprocessor failed", self.run_check("headers.py").stdout)

    def test_every_check_ends_with_a_status(self):
        self.write("sennit/base/y.cpp", '#include "sennit/fiber/x.hpp"\nsleep(1);\n')
        self.write("README.md", "")
        for name in ("layers.py", "tidy.py", "readme.py"):
            self.assertEqual(self.run_check(name).returncode, 1, name)


class Sources(unittest.TestCase):
    def test_code_only_blanks_comments_and_strings_and_keeps_lines(self):
        text = "a /* b\nc */ d // e\n\"f\\\"g\" 'h' R\"x(i\nj)x\" k 1'000"
        self.assertEqual(code_only(text).split(), ["a", "d", '""', "''", '"', '"', "k", "1'000"])
        self.assertEqual(code_only(text).count("\n"), text.count("\n"))

    def test_every_check_measures_something(self):
        self.assertGreater(headers.yardstick_bytes("g++") or 0, 100_000)


if __name__ == "__main__":
    unittest.main()
