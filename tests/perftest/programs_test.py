"""Programs of performance tests as their users see them: what they print, write and compare.

SENNIT_PROGRAMS is the folder of perftest_examples, test_perftest and perf_compare. Nothing here
depends on how fast the machine is.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAMS = pathlib.Path(os.environ["SENNIT_PROGRAMS"])
SECONDS_MAX = 300

# What users of gtestx know, in examples/perftest.
PUBLISHED = [
    "SimpleTest.SysCallPerf",
    "StdMapTest.FindPerf",
    "LoadFactor/HashMapTest.FindPerf/0",
    "LoadFactor/HashMapTest.FindPerf/1",
    "LoadFactor/HashMapTest.FindPerf/2",
    "QueueTest/0.PushPopPerf",
    "QueueTest/1.PushPopPerf",
    "MiscFeaturesTest.SysCallPerf",
    "MiscFeaturesTest.PerfAbort",
]
LINES = re.compile(
    r"^ +count: (?P<count>[\d,]+)\n"
    r" +time: (?P<time>[\d,]+\.\d{6}) s\n"
    r" +HZ: (?P<hz>[\d,]+\.\d{6})\n"
    r" +1/HZ: (?P<period>\d+\.\d{9}) s\n",
    re.MULTILINE,
)
COLUMN = 11  # Where the names end.


def run(program, *arguments, status=0):
    """What the program prints; it must end with this status."""
    command = [PROGRAMS / program, *arguments]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS_MAX
    )
    if done.returncode != status:
        raise AssertionError(f"{command}: status {done.returncode}, not {status}\n{done.stdout}")
    return done.stdout


def examples(*arguments, only=("*",), status=0):
    """The published examples, each for a moment."""
    names = [name for name in PUBLISHED if only == ("*",) or name in only]
    return run(
        "perftest_examples",
        "--gtest_filter=" + ":".join(names),
        "-time=20",
        "--warm_up=0",
        *arguments,
        status=status,
    )


def part_of(output, test):
    """What was printed while a test ran."""
    begin = output.index(f"[ RUN      ] {test}\n")
    return output[begin : output.index(f"[       OK ] {test} (", begin)]


def number(text):
    return float(text.replace(",", ""))


class Output(unittest.TestCase):
    def test_has_the_lines_of_gtestx_for_each_published_example(self):
        output = examples()
        for test in PUBLISHED:
            with self.subTest(test=test):
                part = part_of(output, test)
                found = LINES.search(part)
                self.assertIsNotNone(found, part)
                for line in found.group(0).splitlines():
                    self.assertEqual(line.index(":"), COLUMN, line)
                count, seconds = number(found["count"]), number(found["time"])
                self.assertGreater(count, 0)
                # The time is printed to the microsecond, the period to the nanosecond.
                self.assertAlmostEqual(number(found["hz"]) * seconds / count, 1, delta=1e-3)
                rounding = 1e-6 / count + 1e-9
                self.assertAlmostEqual(number(found["period"]), seconds / count, delta=rounding)

    def test_keeps_the_rate_and_the_time_asked_for(self):
        # The published default of this one is 10,000 calls a second for 5 s.
        part = part_of(examples("-hz=1000", "-time=50"), "MiscFeaturesTest.SysCallPerf")
        found = LINES.search(part)
        self.assertLessEqual(number(found["count"]), 50)
        self.assertGreaterEqual(number(found["time"]), 0.05)

    def test_ends_at_the_call_whose_assertion_fails_with_perf_abort(self):
        output = run(
            "test_perftest",
            "--gtest_also_run_disabled_tests",
            "--gtest_filter=PerfTest.DISABLED_FailsInItsTenthCall",
            status=1,
        )
        self.assertEqual(output.count("perf loop aborted"), 1, output)
        self.assertIn("Expected: (++calls) < (10), actual: 10 vs 10", output)
        self.assertEqual(LINES.search(output)["count"], "10", output)

    def test_refuses_fibers_that_are_not_linked(self):
        self.assertIn(
            "include sennit/perftest/fibers.hpp",
            examples("--fibers=2", only=("StdMapTest.FindPerf",), status=1),
        )


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_hold_each_test_and_compare_with_themselves(self):
        path = self.folder / "report.json"
        examples(f"--json={path}")
        report = json.loads(path.read_text())
        self.assertCountEqual([test["name"] for test in report["tests"]], PUBLISHED)
        self.assertIn("\n0 slower, 0 faster", run("perf_compare", path, path))

    def baseline(self, factor):
        """Saves one, with times that are so many times the real ones; the file."""
        examples(f"--save_baseline={self.folder}")
        (path,) = self.folder.iterdir()
        report = json.loads(path.read_text())
        self.assertEqual(path.name, report["machine"]["class"] + ".json")
        for test in report["tests"]:
            times = test["ns_per_call"]
            times["repetitions"] = [times["median"] * factor] * 20
        path.write_text(json.dumps(report))
        return path

    def test_fail_against_a_baseline_that_was_far_quicker(self):
        self.baseline(1e-6)
        self.assertIn("SLOWER", examples(f"--baseline={self.folder}", status=1))

    def test_pass_against_a_baseline_that_was_far_slower(self):
        self.baseline(1e6)
        self.assertIn("\n0 slower", examples(f"--baseline={self.folder}"))

    def test_are_not_compared_with_another_kind_of_machine(self):
        path = self.baseline(1e-6)
        path.rename(path.with_name("another-machine.json"))
        output = examples(f"--baseline={self.folder}")
        self.assertIn("no baseline for this kind of machine and build", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
