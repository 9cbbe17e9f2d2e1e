#!/usr/bin/env python3
"""Checks that every C++ file is as clang-format-19 would write it; with --write, makes it so.

One version of the formatter, because versions disagree.
"""

import pathlib
import shutil
import subprocess
import sys

from sources import CPP_SUFFIXES, ROOT, files

FORMATTER = "clang-format-19"


def main(arguments):
    """Runs the formatter; returns the exit status."""
    write = "--write" in arguments
    places = [word for word in arguments if not word.startswith("--")]
    root = pathlib.Path(places[0]) if places else ROOT
    if not shutil.which(FORMATTER):
        print(f"format: no {FORMATTER} here: scripts/install-packages test")
        return True
    paths = [str(path) for path in files(root, CPP_SUFFIXES)]
    mode = ["-i"] if write else ["--dry-run", "-Werror"]
    style = f"--style=file:{ROOT / '.clang-format'}"
    failed = bool(paths) and subprocess.run([FORMATTER, style, *mode, *paths]).returncode != 0
    print("format: run `make format`" if failed else f"format: ok, {len(paths)} files")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
