"""A short score of this machine, so that hardware can be compared: more is faster.

One second of three small loads on one core: hashing, compressing, and a loop in Python (in place of
the pystones of the 2013 study). The scores depend on OpenSSL, zlib and Python as well, so their
versions are recorded beside them.
"""

from __future__ import annotations

import hashlib
import platform
import ssl
import statistics
import time
import zlib
from collections.abc import Callable
from typing import Any

VERSION = 1  # of the loads: scores of different ones are not comparable
ROUND_S = 0.065
ROUNDS = 5
BLOCK = bytes(range(256)) * 1024  # 256 KiB


def calibrate(clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """Medians of five rounds: MiB/s hashed, MiB/s compressed, million loop steps a second."""
    return {
        "version": VERSION,
        "sha256_mib_s": _score(_hash, clock),
        "zlib_mib_s": _score(_compress, clock),
        "python_msteps_s": _score(_loop, clock),
        "openssl": ssl.OPENSSL_VERSION,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _hash() -> float:
    hashlib.sha256(BLOCK).digest()
    return 0.25


def _compress() -> float:
    zlib.compress(BLOCK, 1)
    return 0.25


def _loop() -> float:
    value = 1
    for step in range(10_000):
        value = (value * 31 + step) % 65_521
    return 0.01


def _score(work: Callable[[], float], clock: Callable[[], float]) -> float:
    rates = []
    for _ in range(ROUNDS):
        amount, began = 0.0, clock()
        while (elapsed := clock() - began) < ROUND_S:
            amount += work()
        rates.append(amount / elapsed)
    return round(statistics.median(rates), 2)
