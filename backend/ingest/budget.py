"""How long an upload may be read in its lane."""

import time

from django.conf import settings

from backend.ingest.sandbox import sandbox

# On a busy machine a small upload takes long too. It leaves the quick lane only if this share of
# its time was work, or if it holds its reader for so many times what the lane gives.
WORKING_SHARE = 0.05
WAITING_FACTOR = 12
# An upload that is still at work after this share of its time may need all of it: another parser is
# made ready for the next one.
LATE_SHARE = 0.3


class Budget:
    """The time of one reading, from now on; `is_spent` says when it is over."""

    def __init__(self, *, is_slow: bool) -> None:
        self._is_slow = is_slow
        self._began_at = time.monotonic()
        self._cpu_before_s = cpu_used_s()

    @property
    def is_spent(self) -> bool:
        """In the slow lane by the clock alone, in the quick lane also by the work that was done."""
        took_s = self._took_s
        if self._is_slow:
            return took_s > settings.SLOW_READ_S
        if took_s <= settings.QUICK_READ_S:
            return False
        return self._is_at_work or took_s > WAITING_FACTOR * settings.QUICK_READ_S

    @property
    def is_nearly_spent(self) -> bool:
        """Whether the upload is at work for so long that its parser may have to be stopped."""
        is_late = self._took_s > LATE_SHARE * settings.QUICK_READ_S
        return is_late and not self._is_slow and self._is_at_work

    @property
    def _took_s(self) -> float:
        return time.monotonic() - self._began_at

    @property
    def _is_at_work(self) -> bool:
        worked_s = cpu_used_s() - self._cpu_before_s
        return worked_s > WORKING_SHARE * settings.QUICK_READ_S


def cpu_used_s() -> float:
    """CPU seconds of this process and its parser."""
    return time.process_time() + sandbox().cpu_s()
