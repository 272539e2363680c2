"""The base of every exception of Loadsheet, and its families.

LoadsheetError
├── Refused                   what was sent is refused; the sender can do something about it
│   ├── InvalidInput          it is not understood, or has a value that is not allowed
│   │   ├── FormatError       an output gives no trial (formats)
│   │   ├── JsonRefused       JSON that cannot be stored; EnvelopeError, JsonTooLarge (ingest)
│   │   ├── QueryError        a field of a comparison; UnknownField, UnknownValue (analysis)
│   │   └── …                 SearchError, BadCursor, RenameRefused, NothingToFreeze …
│   ├── NotFound              it does not exist, or is not visible to the reader
│   ├── Conflict              it contradicts what is stored: UploadConflict, RunElsewhere …
│   ├── TooLarge              it has more bytes than are accepted
│   ├── Unprocessable         it was read, and cannot be used: PartsDiffer, CannotClean
│   ├── TooEarly              it names a time that has not come; `wait_s` says how long
│   └── TooMany               too often, or too much at the same time; `wait_s` says how long
├── Away                      something that Loadsheet needs cannot be used now, but later can
│   └── …                     StorageAway, StorageFull, Busy, BusyDrawing
└── WorkFailed                work of the service failed, and the sender did not cause it
    └── …                     ParserFailed, ClaimLost, StartFailed, EmbeddedFailed …

The message is one or more sentences for a person: what happened, what was got, what was expected.
`backend.problems` says how each class is answered over HTTP.
"""

from dataclasses import dataclass
from typing import Any


class LoadsheetError(Exception):
    """The base. `hint` says what to do, where this error needs another hint than its class.

    `field`: the wrong field of a form, a body or a query; empty if no field is wrong.
    """

    field = ""

    def __init__(self, sentence: str = "", *, hint: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint

    @property
    def members(self) -> dict[str, Any]:
        """What a program needs beside the sentence, such as the name of the field."""
        return {"field": self.field} if self.field else {}


class Refused(LoadsheetError):
    """What was sent is refused. Nothing was stored."""


class InvalidInput(Refused, ValueError):
    """What was sent is not understood, or has a value that is not allowed."""


class NotFound(Refused, LookupError):
    """It does not exist, or is not visible to the reader: both look the same."""


class Conflict(Refused):
    """It contradicts what is stored. Nothing was changed."""


class TooLarge(Refused):
    """More bytes than are accepted."""


class Unprocessable(Refused):
    """It was read, and cannot be used."""


class TooEarly(Refused):
    """It names a time that has not come yet. It is accepted after `wait_s` seconds."""

    def __init__(self, sentence: str, *, wait_s: int) -> None:
        super().__init__(sentence)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one sender may do: `most` of `name` within `window_s` seconds."""

    name: str
    most: int
    window_s: int


class TooMany(Refused):
    """Too often, or too much at the same time. It is accepted again after `wait_s` seconds.

    `allowance`: the one that is used up; None for what is too much at the same time.
    """

    def __init__(
        self, sentence: str, *, wait_s: int, hint: str = "", allowance: Allowance | None = None
    ) -> None:
        super().__init__(sentence, hint=hint)
        self.wait_s = wait_s
        self.allowance = allowance


class Away(LoadsheetError):
    """Something that Loadsheet needs cannot be used now. The same request works later."""


class WorkFailed(LoadsheetError):
    """Work of the service failed. It ends in a log, an exit code or the reason of an upload."""
