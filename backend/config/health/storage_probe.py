"""Whether the storage can be written now: by writing a few bytes to it and removing them."""

import enum
import logging
import threading
import time
import uuid
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from django.conf import settings

from backend.storage.configured import bulk_storage
from backend.storage.interface import StorageAway, StorageFull

log = logging.getLogger(__name__)

# A flood of requests writes once in this time.
KEPT_S = 5.0
# Longer than a busy disk takes, shorter than a balancer waits.
WITHIN_S = 2.0
BYTES = b"Loadsheet asks whether it can write here.\n"


class Finding(enum.Enum):
    """What a probe of the storage found. The log has the reason, which may name machines."""

    WRITTEN = enum.auto()
    FULL = enum.auto()
    AWAY = enum.auto()


@dataclass(frozen=True, slots=True)
class _Attempt:
    place: tuple[str, ...]
    began_s: float = field(default_factory=time.monotonic)
    finding: Future[Finding] = field(default_factory=Future)

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.began_s


_lock = threading.Lock()
_last: _Attempt | None = None


def probe_storage() -> Finding:
    """The finding of the last KEPT_S, else a new one; at most WITHIN_S after the attempt began.

    A disk or a store that hangs cannot be interrupted: its thread is left behind, and no second
    attempt begins before the first has ended.
    """
    global _last  # noqa: PLW0603  the last attempt of this process
    place = (str(settings.DATA_DIR), settings.S3_BUCKET, settings.S3_ENDPOINT_URL)
    with _lock:
        attempt = _last
        if attempt is None or attempt.place != place or _is_over(attempt):
            attempt = _last = _Attempt(place)
            threading.Thread(target=_write, args=[attempt.finding], daemon=True).start()
    if wait([attempt.finding], max(0.0, WITHIN_S - attempt.age_s)).not_done:
        log.warning("storage_silent", extra={"seconds": round(attempt.age_s)})
        return Finding.AWAY
    return attempt.finding.result()


def _is_over(attempt: _Attempt) -> bool:
    return attempt.finding.done() and attempt.age_s >= KEPT_S


def forget() -> None:
    """Let the next question write again."""
    global _last  # noqa: PLW0603
    with _lock:
        _last = None


def _write(finding: Future[Finding]) -> None:
    # Named as a part of an upload: the collector removes one that a kill left behind.
    name = str(uuid.uuid4())
    try:
        storage = bulk_storage()
        storage.put_part(name, [BYTES])
        storage.remove_part(name)
    except StorageFull:
        log.warning("storage_full", exc_info=True)
        finding.set_result(Finding.FULL)
    except (StorageAway, OSError):
        log.warning("storage_not_writable", exc_info=True)
        finding.set_result(Finding.AWAY)
    except BaseException as error:
        finding.set_exception(error)
    else:
        finding.set_result(Finding.WRITTEN)
