"""Which large bodies a web process reads: of senders that the service knows, while there is room.

Waitress keeps a body before the application sees the request. So the header decides, before a byte
of the body is kept; the application answers a refused request by its header alone.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import shutil
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import close_old_connections

log = logging.getLogger(__name__)

# What stands beside the files of an upload: the envelope and the frame of the form.
FORM_BYTES = 1 << 20
# Of a body on disk: as the web server reads it, as Django takes the files out of it, and as stored.
COPIES = 3
# Of the room for all senders, the share of one address.
ADDRESS_SHARE = 0.5
# In the WSGI environment, where a body was left unread.
REFUSAL_KEY = "loadsheet.body_refusal"


class BodyRefusal(StrEnum):
    """Why a body is not read."""

    # The credentials are not valid, or not of this service.
    UNKNOWN = "unknown"
    # The database could not be asked about the credentials.
    AWAY = "away"
    # Large bodies on their way take all the room of this process, or that of the address.
    BUSY = "busy"
    # The disk of temporary files has no room.
    FULL = "full"
    # A body in chunks, which announce no length, is larger than a request without credentials may
    # have, or than any.
    ANONYMOUS = "anonymous"
    LARGE = "large"


def largest_body() -> int:
    """Bytes of the largest request."""
    return settings.UPLOAD_MAX_BYTES + FORM_BYTES


class Reservations:
    """The announced bytes of the large bodies on their way, in all and by address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_address: Counter[str] = Counter()

    @property
    def total(self) -> int:
        return self._by_address.total()

    def take(self, address: str, size_bytes: int) -> Reservation | BodyRefusal:
        """Room for a body, on disk too. The largest body fits wherever nothing else is read."""
        limit = max(settings.BODIES_MAX_BYTES, largest_body())
        limit_of_address = max(int(limit * ADDRESS_SHARE), largest_body())
        with self._lock:
            total = self.total + size_bytes
            if total > limit or self._by_address[address] + size_bytes > limit_of_address:
                return BodyRefusal.BUSY
            if COPIES * total > room_for_bodies():
                return BodyRefusal.FULL
            self._by_address[address] += size_bytes
        return Reservation(self, address, size_bytes)

    def give_back(self, reservation: Reservation) -> None:
        """Once for each reservation."""
        with self._lock:
            self._by_address[reservation.address] -= reservation.size_bytes
            if not self._by_address[reservation.address]:
                del self._by_address[reservation.address]


@dataclass(slots=True)
class Reservation:
    """Room for one body, until it is released."""

    owner: Reservations
    address: str
    size_bytes: int
    is_released: bool = False

    def release(self) -> None:
        """Any number of times."""
        if not self.is_released:
            self.is_released = True
            self.owner.give_back(self)


def room_for_bodies() -> int:
    """Bytes that temporary files may take: what is kept free on DATA_DIR's disk is not for them.

    0 where the disk cannot be asked.
    """
    folder = Path(tempfile.gettempdir())
    try:
        usage = shutil.disk_usage(folder)
        least = usage.total * settings.LEAST_FREE_PERCENT // 100
        if settings.DATA_DIR.exists() and folder.stat().st_dev == settings.DATA_DIR.stat().st_dev:
            least = max(least, settings.LEAST_FREE_BYTES)
    except OSError:
        return 0
    return max(0, usage.free - least)


@dataclass(slots=True)
class Gate:
    """Asks in a thread of its own whether senders are known: the database may be slow.

    `is_known` gets the headers of a request, with names as in `ACCEPT_ENCODING`. `wake` is called
    when `decided` has something new.
    """

    is_known: Callable[[Mapping[str, str]], bool]
    wake: Callable[[], None]
    _waiting: queue.SimpleQueue[tuple[Any, Mapping[str, str]] | None] = field(
        default_factory=queue.SimpleQueue, init=False
    )
    _decided: deque[tuple[Any, BodyRefusal | None]] = field(default_factory=deque, init=False)

    def start(self) -> None:
        threading.Thread(target=self._decide, name="gate", daemon=True).start()

    def stop(self) -> None:
        self._waiting.put(None)

    def ask(self, request: Any, headers: Mapping[str, str]) -> None:
        """`decided` will give this request."""
        self._waiting.put((request, headers))

    def decided(self) -> Iterator[tuple[Any, BodyRefusal | None]]:
        """The requests that were decided since, each with its refusal, or None."""
        while self._decided:
            yield self._decided.popleft()

    def _decide(self) -> None:
        while (asked := self._waiting.get()) is not None:
            request, headers = asked
            # Django closes old connections when a request begins; this thread serves no request.
            close_old_connections()
            self._decided.append((request, self._refusal_of(headers)))
            # The server may have stopped meanwhile.
            with contextlib.suppress(OSError):
                self.wake()

    def _refusal_of(self, headers: Mapping[str, str]) -> BodyRefusal | None:
        try:
            return None if self.is_known(headers) else BodyRefusal.UNKNOWN
        except Exception as error:
            # Whatever it is: this thread decides for all.
            log.warning("sender_not_checked", extra={"reason": str(error)[:300]})
            return BodyRefusal.AWAY
