#!/usr/bin/env python3
"""Checks that no public header drags in more than its budget of code.

    headers.py [--compiler g++] [--list] [ROOT]

Whoever includes a header pays for all that it includes, in every file, at every build. Measured is
what the compiler reads after preprocessing: unlike seconds, it is the same on a busy machine. That
a header compiles alone at all is checked by the build (all_verify_interface_header_sets).
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

from ratchet import Ratchet
from sources import ROOT, files, is_public_header

# What a header may include without a second thought. Measured in the same run, because it differs
# from one standard library to the next.
YARDSTICK = ("chrono", "expected", "functional", "memory", "string", "fmt/core.h")
# On top of that: our own headers, and a standard header or two.
OWN_BYTES_MAX = 500_000


def preprocessed_bytes(compiler, root, header):
    """How much the compiler reads for a file that includes only this header, or None: an error."""
    return measure([compiler, f"-I{root}"], str(header))


def yardstick_bytes(compiler):
    """How much the compiler reads for the yardstick."""
    includes = "".join(f"#include <{name}>\n" for name in YARDSTICK)
    return measure([compiler], "-", includes.encode())


def measure(command, source, text=b""):
    """The size of one preprocessed source, or None: an error."""
    command = [*command, "-std=c++23", "-E", "-P", "-x", "c++", source]
    done = subprocess.run(command, capture_output=True, input=text)
    if done.returncode:
        print(done.stderr.decode(errors="replace"), file=sys.stderr)
        return None
    return len(done.stdout)


def main():
    """Measures each header and prints those over budget; returns the exit status."""
    parser = argparse.ArgumentParser(description="budget of the public headers")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--list", action="store_true", help="print each header's size")
    parser.add_argument("root", nargs="?", default=str(ROOT), type=pathlib.Path)
    options = parser.parse_args()
    root = pathlib.Path(options.root)
    # Those for tests come with GoogleTest, which is larger than the budget.
    headers = [
        path
        for path in files(root, (".hpp",))
        if is_public_header(root, path) and "testing" not in path.parts
    ]
    ratchet = Ratchet(root / "tools/check/ratchet.txt")
    bytes_max = (yardstick_bytes(options.compiler) or 0) + OWN_BYTES_MAX
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sizes = pool.map(lambda path: preprocessed_bytes(options.compiler, root, path), headers)
        for path, size in zip(headers, sizes):
            name = path.relative_to(root)
            if options.list:
                print(f"{size:>10} {name}")
            if size is None:
                bad += 1
                print(f"{name}:1: the preprocessor failed; see above")
            elif ratchet.exceeds("header_bytes", str(name), size, bytes_max):
                bad += 1
                print(
                    f"{name}:1: {size} bytes after preprocessing: at most {bytes_max}; "
                    "include less, or move code to the .cpp"
                )
    print(f"headers: {bad} over budget" if bad else f"headers: ok, {len(headers)} within budget")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
