#!/usr/bin/env python3
"""Checks that the programs README.md shows are the ones that are compiled.

A fenced block that follows a line `<!-- examples/NAME.cpp -->` must be that file, to the letter,
after the file's first comment. It must also be short enough to read at a glance.
"""

import pathlib
import re
import sys

from sources import ROOT

LINES_MAX = 15
BLOCK = re.compile(r"^<!-- (\S+) -->\n```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def violations(root):
    """Yields one line of text per violation."""
    blocks = BLOCK.findall((root / "README.md").read_text())
    if not blocks:
        yield "README.md: shows no program: a ```cpp block after a line <!-- examples/NAME.cpp -->"
    for name, shown in blocks:
        if not (root / name).exists():
            yield f"README.md: quotes {name}, which does not exist"
            continue
        compiled = re.sub(r"\A(?://[^\n]*\n)+\n*", "", (root / name).read_text())
        if shown != compiled:
            yield f"README.md: the block for {name} differs from that file: copy it again"
        if shown.count("\n") > LINES_MAX:
            yield f"README.md: {name} has {shown.count(chr(10))} lines: at most {LINES_MAX}"


def main(root=ROOT):
    """Prints the violations, or that there are none; returns the exit status."""
    found = list(violations(pathlib.Path(root)))
    print("\n".join(found) or "readme: ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
