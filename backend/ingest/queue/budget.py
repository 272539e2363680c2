"""How long an upload may be read in its lane."""

import time

from django.conf import settings

from backend.untrusted.sandbox.sandbox import cpu_used_s

# On a busy machine a small upload takes long too. It leaves the quick lane only if this share of
# its time was work, or if it holds its reader for so many times what the lane gives.
WORKING_SHARE = 0.05
WAITING_FACTOR = 12


class Budget:
    """The time of one reading, from now on; `is_spent` says when it is over."""

    def __init__(self, *, is_slow: bool) -> None:
        self.is_slow = is_slow
        self._began_at = time.monotonic()
        self._cpu_before_s = cpu_used_s()

    @property
    def is_spent(self) -> bool:
        """In the slow lane by the clock alone, in the quick lane also by the work that was done."""
        if self.is_slow:
            return self.took_s > settings.SLOW_READ_S
        if self.took_s <= settings.QUICK_READ_S:
            return False
        return self.is_at_work or self.took_s > WAITING_FACTOR * settings.QUICK_READ_S

    @property
    def took_s(self) -> float:
        return time.monotonic() - self._began_at

    @property
    def is_at_work(self) -> bool:
        """Whether the upload itself used CPU, not only waited."""
        worked_s = cpu_used_s() - self._cpu_before_s
        return worked_s > WORKING_SHARE * settings.QUICK_READ_S
