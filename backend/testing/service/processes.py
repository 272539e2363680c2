"""The processes of a service that this process started: what they are, and what they use."""

import contextlib
from collections import Counter

import psutil

from backend.testing.supervised import PROGRAMS

CLEANER = "backend.untrusted.secrets.clean_child"


def processes() -> list[psutil.Process]:
    """Everything that the service runs."""
    children: list[psutil.Process] = psutil.Process().children(recursive=True)
    return children


def program_of(process: psutil.Process) -> str:
    """Such as web, worker or parser; "other" also for one that has ended."""
    with contextlib.suppress(psutil.Error):
        words = process.cmdline()
        for name, pattern in PROGRAMS.items():
            if any(pattern.search(word) for word in words):
                return name
        if CLEANER in words:
            return "cleaner"
    return "other"


def memory_by_program() -> tuple[Counter[str], Counter[str]]:
    """Bytes by program: with pages that processes share counted once, and with them counted in
    each."""
    proportional: Counter[str] = Counter()
    resident: Counter[str] = Counter()
    for process in processes():
        with contextlib.suppress(psutil.Error):
            used = process.memory_full_info()
            proportional[program_of(process)] += used.pss
            resident[program_of(process)] += used.rss
    return proportional, resident


def cpu_by_program() -> Counter[str]:
    """CPU seconds so far of this process' descendants, those that ended included."""
    used: Counter[str] = Counter()
    for process in processes():
        with contextlib.suppress(psutil.Error):
            used[program_of(process)] += sum(process.cpu_times()[:4])
    used["clients"] = sum(psutil.Process().cpu_times()[2:4])
    return used


def cpu_of_each(before: Counter[str], count: int) -> str:
    """Milliseconds of CPU of each program for one upload."""
    after = cpu_by_program()
    used = {name: (after[name] - before[name]) / max(1, count) * 1000 for name in after}
    shares = ", ".join(f"{name} {ms:.2f}" for name, ms in used.items() if ms >= 0.01)
    return f"{shares}; together {sum(used.values()):.2f}"
