"""Images of comparisons: what the browser would draw, by the same code, as PNG 1200 × 630.

A worker draws that of a result set when it is made. Where that has not happened yet, or where a
live one shows something else now, who asks for it draws it: a fifth of a second, one at a time in
each process. A site that reads a pasted link comes once and does not come again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings

from backend.analysis.answers import kept
from backend.runs.identity import canonical_json
from backend.sharing.models import Drawing, ResultSet
from backend.sharing.reading import Reading

log = logging.getLogger(__name__)

PROGRAM = Path(settings.BASE_DIR) / "frontend" / "images" / "render.mjs"
WIDTH, HEIGHT = 1200, 630
MEMORY_MB = 1024
HEAP_MB = 256
CPU_S = 10
# On a busy machine CPU time passes slower than the clock.
CLOCK_S = 2 * CPU_S
WAIT_S = 5.0
_MISSING = 3  # the program's own word for a part that is not installed
# A shell sets the limits: between fork and exec no Python may run where there are threads.
_LIMITED = f'ulimit -t {CPU_S} && ulimit -d {MEMORY_MB << 10} && exec "$@"'

_turn = Lock()


class CannotDraw(Exception):
    """There is no image, and asking again will not help; the message says what is missing."""


class BusyDrawing(Exception):
    """Another image is being drawn; to be asked for again shortly."""


def image_of(reading: Reading) -> bytes:
    """The PNG. Raises CannotDraw, BusyDrawing, and what reading the figures raises."""
    scene = canonical_json(_scene(reading))
    key = _key(scene)
    if (before := _kept(reading.result_set, key)) is not None:
        return before
    with _in_turn():
        # Who drew meanwhile may have drawn just this.
        if (before := _kept(reading.result_set, key)) is not None:
            return before
        png = draw(scene)
        Drawing.objects.update_or_create(
            result_set=reading.result_set, defaults={"key": key, "png": png}
        )
    return png


def is_of_fixed_height(result_set: ResultSet) -> bool:
    """Whether its image is `HEIGHT` tall: a table of ratios is as tall as it has rows."""
    return "view=ratios" not in result_set.query.split("&")


def image_of_view(figures: dict[str, Any], url: str) -> bytes:
    """The PNG of a comparison at `url`, kept a while under the hash of what it shows.

    Taller than `HEIGHT` where the link takes more than a line. Raises CannotDraw, BusyDrawing.
    """
    date = _newest(figures["runs"])
    scene = canonical_json({"figures": figures, "url": url, "date": date})
    return kept(f"drawing:{_key(scene)}", lambda: _drawn_in_turn(scene))


def _drawn_in_turn(scene: bytes) -> bytes:
    with _in_turn():
        return draw(scene)


def _scene(reading: Reading) -> dict[str, Any]:
    one = reading.result_set
    if one.is_frozen:
        date = f"frozen {one.created_at:%Y-%m-%d %H:%M} UTC"
    else:
        date = ", ".join(filter(None, ["live", _newest(reading.figures["runs"])]))
    return {"figures": reading.figures, "url": f"{settings.PUBLIC_URL}{one.path}", "date": date}


def _newest(runs: list[dict[str, Any]]) -> str:
    """The day of the newest run shown, in the words of the image."""
    known = [run["started_at"] for run in runs if run["started_at"] is not None]
    return f"newest run of {max(known)[:10]}" if known else ""


def _kept(result_set: ResultSet, key: str) -> bytes | None:
    found = Drawing.objects.filter(result_set=result_set, key=key).first()
    return None if found is None else bytes(found.png)


@contextmanager
def _in_turn() -> Iterator[None]:
    if not _turn.acquire(timeout=WAIT_S):
        raise BusyDrawing
    try:
        yield
    finally:
        _turn.release()


def _key(scene: bytes) -> str:
    return hashlib.sha256(_program_digest() + scene).hexdigest()


@lru_cache(maxsize=1)
def _program_digest() -> bytes:
    """A newer program may draw otherwise."""
    try:
        return hashlib.sha256(PROGRAM.read_bytes()).digest()
    except FileNotFoundError:
        return b""


def draw(scene: bytes) -> bytes:
    """The PNG of a scene, `{figures, url, date}` as JSON, in a process with limits of its own."""
    node = shutil.which("node")
    if node is None:
        raise CannotDraw("Node is not installed where the service runs.")
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", _LIMITED, "sh", node, f"--max-old-space-size={HEAP_MB}", PROGRAM],
            input=scene,
            capture_output=True,
            timeout=CLOCK_S,
            check=False,
            # Nothing of the service's secrets.
            env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
        )
    except subprocess.TimeoutExpired:
        raise CannotDraw(f"Drawing took more than {CLOCK_S} s and was stopped.") from None
    if done.returncode:
        raise CannotDraw(_reason(done.returncode, done.stderr))
    return done.stdout


def _reason(code: int, said: bytes) -> str:
    log.error("drawing_failed", extra={"code": code, "said": said[-2000:].decode(errors="replace")})
    if code == _MISSING:
        return (
            "The canvas that draws images is not installed for this machine: run `npm ci` in "
            "frontend/ there."
        )
    return "The program that draws images failed on this one; it was logged."
