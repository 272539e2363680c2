"""Parsers that crash, hang, fork or flood (B2)."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import psutil

from backend.testing.offline import set_up_offline
from backend.testing.promises.ground import Finding, Say, spread

FAULTS = 500
FAILED_WITHIN_S = 5.0
CPU_S = 1
# What the planted parser does, and words of the reason that is given.
ORDERS = {
    "ALLOCATE": "memory",
    "SPIN": "CPU time",
    "SEGFAULT": "SIGSEGV",
    "FORK": "SIGSEGV",
    "FLOOD": "too large",
    "EXIT": "status 7",
}
GROWTH_BYTES = 16 << 20
Ask = Callable[[str], str]


def parser_faults(say: Say) -> Finding:
    """Faults of every kind in turn, in one reader, which reads a good file after each."""
    finding = Finding()
    took_s: dict[str, list[float]] = {order: [] for order in ORDERS}
    with _planted_parser() as ask:
        ask("FINE")
        reader = psutil.Process()
        before_bytes, before_files = reader.memory_info().rss, reader.num_fds()
        for number, order in enumerate(islice(cycle(ORDERS), FAULTS)):
            began = time.monotonic()
            reason = ask(order)
            took_s[order].append(time.monotonic() - began)
            finding.expect(ORDERS[order] in reason, f"{order} failed with: {reason}")
            finding.expect(ask("FINE") == "", f"a good file was not read after {order}")
            if number % 50 == 0:
                say(f"fault {number} of {FAULTS}")
        grown, opened = reader.memory_info().rss - before_bytes, reader.num_fds() - before_files
    for order, values in took_s.items():
        finding.note(f"{order}: failed after {spread(values)}")
        finding.expect(max(values) <= CPU_S + FAILED_WITHIN_S, f"{order}: {max(values):.1f} s")
    finding.note(f"{FAULTS} faults: the reader grew by {grown >> 20} MiB and {opened} open files")
    finding.expect(grown < GROWTH_BYTES and opened <= 0, "the reader grew")
    return finding


@contextmanager
def _planted_parser() -> Iterator[Ask]:
    """Asks a parser that does what it reads; answers with the reason of its failure, else empty."""
    set_up_offline()
    from backend.untrusted.sandbox.parser_failures import ParserFailed
    from backend.untrusted.sandbox.sandbox import LocalArtefact, Sandbox, current_limits

    box = Sandbox([sys.executable, "-m", "backend.untrusted.tests.planted_child"])
    limits = replace(current_limits(), cpu_s=CPU_S)
    with tempfile.TemporaryDirectory() as folder:
        artefact = Path(folder) / "artefact"

        def ask(order: str) -> str:
            artefact.write_text(order)
            try:
                box.read([LocalArtefact("artefact", artefact)], tool="", limits=limits)
            except ParserFailed as failed:
                return str(failed)
            return ""

        yield ask
        box.close()
