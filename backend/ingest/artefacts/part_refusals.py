"""Why a part, or an upload that names parts, is refused."""

from collections.abc import Sequence
from typing import Any

from backend.errors import Conflict, Refused, TooLarge, TooMany, Unprocessable

NO_ROOM_WAIT_S = 600


class PartConflict(Conflict):
    """A part of this number came before with other bytes."""


class PartTooSmall(Refused):
    """A second part below the least size."""


class PartDamaged(Refused):
    """Not the bytes that were sent."""


class PartsMissing(Refused):
    """The upload names parts that are not there; `numbers` are the first of them."""

    def __init__(self, name: str, numbers: Sequence[int]) -> None:
        self.name, self.numbers = name, tuple(numbers)
        shown = ", ".join(map(str, self.numbers))
        super().__init__(f"These parts of {name!r} are missing: {shown}.")

    @property
    def members(self) -> dict[str, Any]:
        """The numbers as `missing`."""
        return {"missing": list(self.numbers)}


class PartsDiffer(Unprocessable):
    """Put together, the parts are not the artefact that was named."""


class NoRoom(TooMany):
    """The workspace has too many bytes waiting in parts."""


class PartsTooLarge(TooLarge):
    """More bytes than one upload may have."""
