#!/usr/bin/env python3
"""Checks that each module includes only what its sennit_module(...) line in CMakeLists.txt names.

Those lines are the policy, read by the build and by this check alike. Do not widen one to make a
build pass: a new edge between modules needs its reason in docs/architecture.md first.

What a file of module M may include of another module U:
  - U's public headers, if M's line has U among its USES;
  - in a header or a test of M also those of the modules among its HEADERS_USE;
  - in a *_perf.cpp also those of perftest;
  - never U's detail/, and U's testing/ (doubles for tests) only in a file that is a test itself.
A module without a line, or a line without a folder, is reported too.
"""

import pathlib
import re
import sys

from sources import ROOT, files, is_test, line_of

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"sennit/([^/"]+)/([^"]*)"', re.MULTILINE)
CALL = re.compile(r"^[ \t]*sennit_module\(([^)]*)\)", re.MULTILINE)
KEYWORDS = ("USES", "HEADERS_USE", "LINKS", "PRIVATE_LINKS")


def declared_modules(root, wanted="USES"):
    """{module: modules it may use}, in the order of CMakeLists.txt; `wanted` is the keyword."""
    text = re.sub(r"#[^\n]*", "", (root / "CMakeLists.txt").read_text())
    modules = {}
    for call in CALL.findall(text):
        name, *words = call.split()
        uses, keyword = [], ""
        for word in words:
            if word in KEYWORDS:
                keyword = word
            elif keyword == wanted:
                uses.append(word)
        modules[name] = uses
    return modules


def violations(root):
    """Yields one line of text per violation."""
    modules = declared_modules(root)
    headers_use = declared_modules(root, "HEADERS_USE")
    seen = []
    for name in modules:
        uses = modules[name] + headers_use[name]
        if not (root / "sennit" / name).is_dir():
            yield f"CMakeLists.txt: sennit_module({name}) has no folder sennit/{name}"
        for used in uses:
            if used not in seen:
                yield (
                    f"CMakeLists.txt: {name} USES {used}, which no line above it declares "
                    "(a cycle, or a typo)"
                )
        seen.append(name)
    for folder in sorted((root / "sennit").iterdir()):
        if folder.is_dir() and folder.name not in modules:
            yield f"sennit/{folder.name}: no sennit_module line in CMakeLists.txt declares it"
        elif folder.is_dir():
            name = folder.name
            yield from module_violations(root, folder, modules[name], headers_use[name])


def module_violations(root, folder, uses, headers_use):
    """Yields the violations in the files of one module."""
    for path in files(folder.parent, (".hpp", ".cpp", ".S"), (folder.name,)):
        text = path.read_text()
        allowed = {folder.name, *uses}
        if path.name.endswith("_perf.cpp"):
            allowed.add("perftest")
        if path.suffix == ".hpp" or path.name.endswith("_test.cpp"):
            allowed.update(headers_use)
        for match in INCLUDE.finditer(text):
            used, rest = match.groups()
            where = f"{path.relative_to(root)}:{line_of(text, match.start(1))}"
            if used not in allowed:
                yield (
                    f"{where}: {folder.name} may not use {used}: "
                    "its sennit_module line does not name it"
                )
            elif used != folder.name and "detail/" in rest:
                yield f"{where}: {used}/detail is private to {used}: use its public headers"
            elif "testing/" in rest and not is_test(path.relative_to(root)):
                yield (
                    f"{where}: {used}/testing is for tests: "
                    "include it from a *_test.cpp or a testing/ folder"
                )


def main(root=ROOT):
    """Prints the violations, or that there are none; returns the exit status."""
    found = list(violations(pathlib.Path(root)))
    print("\n".join(found) or "layers: ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
