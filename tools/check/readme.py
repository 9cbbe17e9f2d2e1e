#!/usr/bin/env python3
"""Checks that the programs README.md and the modules' READMEs show are the ones that are compiled.

A fenced block that follows a line `<!-- examples/NAME.cpp -->` must be that file, to the letter,
after the file's first comment. It must also be short enough to read at a glance: in README.md,
which must show one, shorter than in a module's.
"""

import pathlib
import re
import sys

from sources import ROOT

LINES_MAX = 15
MODULE_LINES_MAX = 40
BLOCK = re.compile(r"^<!-- (\S+) -->\n```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def violations(root):
    """Yields one line of text per violation."""
    if not BLOCK.search((root / "README.md").read_text()):
        yield "README.md: shows no program: a ```cpp block after a line <!-- examples/NAME.cpp -->"
    yield from file_violations(root, root / "README.md", LINES_MAX)
    for readme in sorted(root.glob("sennit/*/README.md")):
        yield from file_violations(root, readme, MODULE_LINES_MAX)


def file_violations(root, readme, lines_max):
    """Yields the violations in one file."""
    where = readme.relative_to(root)
    for name, shown in BLOCK.findall(readme.read_text()):
        if not (root / name).exists():
            yield f"{where}: quotes {name}, which does not exist"
            continue
        compiled = re.sub(r"\A(?://[^\n]*\n)+\n*", "", (root / name).read_text())
        if shown != compiled:
            yield f"{where}: the block for {name} differs from that file: copy it again"
        if shown.count("\n") > lines_max:
            yield f"{where}: {name} has {shown.count(chr(10))} lines: at most {lines_max}"


def main(root=ROOT):
    """Prints the violations, or that there are none; returns the exit status."""
    found = list(violations(pathlib.Path(root)))
    print("\n".join(found) or "readme: ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
