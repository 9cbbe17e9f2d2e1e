"""The ratchet: limits that old code may still exceed, by a recorded amount that only goes down.

tools/check/ratchet.txt has one line per excess: `rule where amount`. More than the limit and more
than the recorded amount is a violation. Less than recorded is one too: `tidy.py --tighten` lowers
the record. Nothing raises it but an edit by hand, which a reviewer sees.
"""

import re


class Ratchet:
    """What is recorded in one ratchet file."""

    def __init__(self, path):
        self.path = path
        self.recorded = {}
        self.seen = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            match = re.fullmatch(r"(\w+) (\S+) (\d+)", line)
            if match:
                self.recorded[match[1], match[2]] = int(match[3])

    def exceeds(self, rule, where, amount, limit):
        """Whether this amount is a violation. Remembers it for slack() and tighten()."""
        if amount <= limit:
            return False
        self.seen[rule, where] = amount
        return amount > self.recorded.get((rule, where), limit)

    def slack(self, rules):
        """Yields a line per record of these rules that is higher than needed."""
        for (rule, where), amount in sorted(self.recorded.items()):
            if rule in rules and self.seen.get((rule, where), 0) < amount:
                now = self.seen.get((rule, where), "nothing")
                yield (
                    f"tools/check/ratchet.txt: {rule} {where} is recorded as {amount} and is now "
                    f"{now}: run tools/check/tidy.py --tighten"
                )

    def tighten(self, rules):
        """Rewrites the file with no record of these rules higher than needed."""
        lines = [line for line in self.path.read_text().splitlines() if line.startswith("#")]
        for (rule, where), amount in sorted(self.recorded.items()):
            now = min(amount, self.seen.get((rule, where), 0)) if rule in rules else amount
            if now:
                lines.append(f"{rule} {where} {now}")
        self.path.write_text("\n".join(lines) + "\n")
