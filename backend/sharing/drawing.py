"""Images of comparisons: PNG of 1200 × 630, drawn by the same code as in the browser.

A worker draws the image of a result set when the set is made. Where there is none yet, or a live
set shows something else now, the request for the image draws it: about 0.2 s, one at a time in
each process. A site that previews a pasted link asks only once, so it must get the image then.
"""

import hashlib
import logging
import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from backend.analysis.figures import Figures, plain_figures
from backend.analysis.loading.response_cache import get_or_compute_bytes
from backend.errors import WorkFailed
from backend.runs.registry.identity import canonical_json
from backend.sharing.models import Drawing, ResultSet
from backend.sharing.reading import Reading
from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy, Slots

log = logging.getLogger(__name__)

PROGRAM = Path(settings.BASE_DIR) / "frontend" / "images" / "render.mjs"
WIDTH, HEIGHT = 1200, 630
MEMORY_MB = 1024
HEAP_MB = 256
CPU_S = 10
# On a busy machine CPU time passes slower than the clock.
CLOCK_S = 2 * CPU_S
_MISSING = 3  # exit status of the program when the canvas library is not installed
# A shell sets the limits: in a process with threads no Python may run between fork and exec.
_LIMITED = f'ulimit -t {CPU_S} && ulimit -d {MEMORY_MB << 10} && exec "$@"'


class CannotDraw(WorkFailed):
    """There is no image, and trying again will not help; the message says what is missing."""


class BusyDrawing(Busy):
    """Images of others are being drawn; try again shortly."""

    sentence = "Another image is being drawn."


class TooManyDrawings(OwnerBusy):
    """The viewer has as many images drawn as one may. The same request works later."""

    sentence = "One of your images is being drawn, and another one waits."


# A viewer never takes all places: who has an image drawn leaves a place to wait to others.
DRAWINGS = Slots(
    running=1,
    waiting=2,
    of_owner=2,
    patience_s=5.0,
    refusals=(TooManyDrawings, BusyDrawing),
)


def image_of(reading: Reading) -> bytes:
    """The PNG. Raises CannotDraw, TooManyDrawings, BusyDrawing, and what reading the figures
    raises.
    """
    scene = canonical_json(_scene(reading))
    key = _key(scene)
    if (stored := _stored(reading.result_set, key)) is not None:
        return stored
    with DRAWINGS.take(reading.viewer):
        # Another request may have drawn this image meanwhile.
        if (stored := _stored(reading.result_set, key)) is not None:
            return stored
        png = draw(scene)
        Drawing.objects.update_or_create(
            result_set=reading.result_set, defaults={"key": key, "png": png}
        )
    return png


def is_of_fixed_height(result_set: ResultSet) -> bool:
    """Whether its image is `HEIGHT` tall: the height of a ratio table depends on its rows."""
    return "view=ratios" not in result_set.query.split("&")


def image_of_view(figures: Figures, url: str, *, viewer: str) -> bytes:
    """The PNG of a comparison at `url`, cached under the hash of its content.

    Taller than `HEIGHT` where the link takes more than a line. Raises CannotDraw,
    TooManyDrawings and BusyDrawing.
    """
    date = _newest(figures)
    scene = canonical_json({"figures": plain_figures(figures), "url": url, "date": date})
    return get_or_compute_bytes(f"drawing:{_key(scene)}", lambda: _drawn_in_turn(scene, viewer))


def _drawn_in_turn(scene: bytes, viewer: str) -> bytes:
    with DRAWINGS.take(viewer):
        return draw(scene)


def _scene(reading: Reading) -> dict[str, Any]:
    result_set = reading.result_set
    if result_set.is_frozen:
        date = f"frozen {result_set.created_at:%Y-%m-%d %H:%M} UTC"
    else:
        date = ", ".join(filter(None, ["live", _newest(reading.figures)]))
    return {
        "figures": reading.plain_figures,
        "url": f"{settings.PUBLIC_URL}{result_set.path}",
        "date": date,
        "name": result_set.title,
    }


def _newest(figures: Figures) -> str:
    """The date of the newest run shown, as the image states it."""
    # Both are texts of one form. Figures that are shared may lack the second.
    dates = [
        min(run.started_at, run.recorded_at or run.started_at)
        for run in figures.runs
        if run.started_at is not None
    ]
    return f"newest run of {max(dates)[:10]}" if dates else ""


def _stored(result_set: ResultSet, key: str) -> bytes | None:
    drawing = Drawing.objects.filter(result_set=result_set, key=key).first()
    return None if drawing is None else bytes(drawing.png)


def _key(scene: bytes) -> str:
    return hashlib.sha256(_program_digest() + scene).hexdigest()


@lru_cache(maxsize=1)
def _program_digest() -> bytes:
    """Part of the key, because a newer program may draw another image."""
    try:
        return hashlib.sha256(PROGRAM.read_bytes()).digest()
    except FileNotFoundError:
        return b""


def draw(scene: bytes) -> bytes:
    """The PNG of a scene, `{figures, url, date, name}` as JSON, by a process with limits."""
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
            # The environment holds no secrets of the service.
            env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
        )
    except subprocess.TimeoutExpired:
        raise CannotDraw(f"Drawing took more than {CLOCK_S} s and was stopped.") from None
    if done.returncode:
        raise CannotDraw(_reason(done.returncode, done.stderr))
    return done.stdout


def _reason(code: int, stderr: bytes) -> str:
    log.error(
        "drawing_failed", extra={"code": code, "stderr": stderr[-2000:].decode(errors="replace")}
    )
    if code == _MISSING:
        return (
            "The canvas that draws images is not installed for this machine: run `npm ci` in "
            "frontend/ there."
        )
    return "The program that draws images failed on this image; the log has the details."
