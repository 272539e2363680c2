"""The binary simulation.log of Gatling 3.13 and later: told by its first record, and refused."""

from backend.formats.model import FormatError
from backend.formats.text import Source

RUN = b"\0"
LONGEST_VERSION = 40


def _version(data: bytes) -> str | None:
    """The version in the record of the run, which is the first; None if there is none.

    A zero byte, then the version: its length as four bytes, its Latin-1 letters, and a zero byte
    for their coder.
    """
    length = int.from_bytes(data[1:5], "big")
    version = data[5 : 5 + length]
    if (
        data[:1] != RUN
        or not 0 < length <= LONGEST_VERSION
        or data[5 + length : 6 + length] != b"\0"
    ):
        return None
    if not version.isascii() or not version[:1].isdigit() or b"." not in version:
        return None
    return version.decode()


def claims_binary(source: Source) -> str | None:
    """Why this is Gatling's binary log, or None."""
    version = _version(source.data)
    return None if version is None else f"the first record is of a run of Gatling {version}"


def refusal(source: Source) -> FormatError:
    """Why the binary log is not read, and what to send in its place."""
    version = _version(source.data)
    return FormatError(
        "Loadsheet does not read Gatling's binary simulation.log.",
        found=f"the log of Gatling {version}",
        expected="the text that Gatling printed, or the simulation.log of 3.12 or before",
    )
