"""Bombs (B1): files that unpack to much more, or to nothing."""

import os
import time
from collections import Counter
from collections.abc import Callable

import httpx
import zstandard

from backend.testing.chaos.memory import memory_of
from backend.testing.packed import gzip_of, gzip_of_zeros, zstd_of, zstd_of_zeros
from backend.testing.promises.ground import (
    Finding,
    Ground,
    Say,
    counted,
    own_ground,
    spread,
)
from backend.testing.reports import WRK
from backend.testing.service.processes import program_of
from backend.testing.strangers.hour import quantile
from backend.testing.waiting import beside

MIB, GIB = 1 << 20, 1 << 30
REFUSED_WITHIN_S, REFUSALS = 2.0, {400, 413, 422}
GROWTH_BYTES = 64 * MIB
BOMBS_AT_ONCE = 100
HONEST_UPLOADS = 20
SLOWER_AT_MOST = 2.0


def bombs(say: Say) -> Finding:
    """Each alone, then a hundred at once beside another workspace's uploads."""
    made = {name: make() for name, make in BOMBS.items()}
    with own_ground(say) as ground:
        stranger = ground.new_workspace("strangers")
        _honest_s(ground)
        before = _memory(ground)
        for name, bomb in made.items():
            say(f"{name}, {len(bomb)} bytes")
            _expect_refused(ground, stranger, name, bomb)
        for program, grown in _growth(before, _memory(ground)).items():
            ground.finding.note(f"memory of {program} grew by {grown / MIB:.0f} MiB")
            is_small = grown < GROWTH_BYTES
            ground.finding.expect(is_small, f"{program} grew by {grown / MIB:.0f} MiB")
        _compare_with_bombs(ground, stranger, list(made.values()))
        return ground.finding


def _expect_refused(ground: Ground, token: str, name: str, bomb: bytes) -> None:
    """Refused at once, or failed by the reader with a reason."""
    with ground.client(token) as client:
        began = time.monotonic()
        answer = client.post("/api/v1/uploads", files={"file": ("0.txt", bomb)})
        state = str(answer.status_code)
        if answer.is_success:
            state = _final_state(client, answer.json()["id"])
        took_s = time.monotonic() - began
    ground.finding.note(f"{name} ({len(bomb) / 1024:.0f} KiB): {state} after {took_s:.2f} s")
    is_refused = state == "failed" or answer.status_code in REFUSALS
    ground.finding.expect(is_refused, f"{name} was not refused: {state}")
    ground.finding.expect(
        took_s < REFUSED_WITHIN_S, f"{name} was refused after {took_s:.1f} s only"
    )


def _final_state(client: httpx.Client, id_: str) -> str:
    while (state := str(client.get(f"/api/v1/uploads/{id_}").json()["state"])) in (
        "received",
        "parsing",
    ):
        time.sleep(0.05)
    return state


def _compare_with_bombs(ground: Ground, stranger: str, made: list[bytes]) -> None:
    alone_s = _honest_s(ground)
    answers: Counter[str] = Counter()
    number = iter(range(1 << 30))

    def throw() -> None:
        with ground.client(stranger) as client:
            bomb = made[next(number) % len(made)]
            try:
                answer = client.post("/api/v1/uploads", files={"file": ("0.txt", bomb)})
                answers[str(answer.status_code)] += 1
                time.sleep(float(answer.headers.get("retry-after", 0)))
            except httpx.HTTPError as error:
                answers[type(error).__name__] += 1

    ground.say(f"{BOMBS_AT_ONCE} bombs at once")
    with beside(throw, threads=BOMBS_AT_ONCE):
        time.sleep(2)
        beside_s = _honest_s(ground)
    factor = quantile(beside_s, 0.5) / quantile(alone_s, 0.5)
    ground.finding.note(f"an upload of another workspace alone: {spread(alone_s)}")
    ground.finding.note(
        f"beside {BOMBS_AT_ONCE} senders of bombs: {spread(beside_s)}; {factor:.1f} times"
    )
    ground.finding.note("answers to bombs: " + counted(answers))
    ground.finding.expect(factor <= SLOWER_AT_MOST, f"an upload took {factor:.1f} times as long")


def _honest_s(ground: Ground) -> list[float]:
    """Seconds until each of some uploads was read."""
    took_s = []
    with ground.client() as client:
        for _ in range(HONEST_UPLOADS):
            began = time.monotonic()
            text = f"{WRK}\n{time.monotonic_ns()}"
            answer = client.post("/api/v1/uploads", files={"file": ("0.txt", text)})
            answer.raise_for_status()
            _final_state(client, answer.json()["id"])
            took_s.append(time.monotonic() - began)
    return took_s


def _memory(ground: Ground) -> Counter[str]:
    """Bytes of the largest process of each program."""
    sizes: Counter[str] = Counter()
    for process, size_bytes in memory_of(ground.site).items():
        name = program_of(process)
        sizes[name] = max(sizes[name], size_bytes)
    return sizes


def _growth(before: Counter[str], after: Counter[str]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in ("web", "worker")}


def _wide_zstd() -> bytes:
    """A frame that asks for a window of 2 GiB."""
    wide = zstandard.ZstdCompressionParameters(window_log=31, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    return packer.compress(os.urandom(MIB)) + packer.flush()


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip of 1 GiB of zeros": lambda: gzip_of_zeros(GIB),
    "zstd of 1 GiB of zeros": lambda: zstd_of_zeros(GIB),
    "gzip of 10,001 members": lambda: gzip_of(b"x") * 10_001,
    "zstd with a window of 2 GiB": _wide_zstd,
    "gzip in zstd": lambda: zstd_of(gzip_of_zeros(GIB)),
    "gzip with a wrong checksum": lambda: gzip_of(WRK.encode())[:-8] + bytes(8),
    "truncated gzip": lambda: gzip_of(os.urandom(MIB))[: MIB // 2],
}
