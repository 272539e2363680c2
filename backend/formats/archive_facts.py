"""What the files of an archive say beside its outputs: the project's own figures, the machine.

The agent's importers read the same from a folder (`loadsheet_agent.imports`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import msgspec

from backend.errors import InvalidInput
from backend.formats.archive_texts import printable
from backend.formats.model import RawArtefact
from backend.formats.text import read_up_to

# Of a JSON file beside the outputs. TechEmpower's results.json of 2013 has 300 KB.
MAX_BYTES = 16 << 20
MAX_REMARKS = 1_000


@dataclass(frozen=True, slots=True)
class ArchiveFacts:
    """What an archive says of its run.

    `notes`: what the archive can tell and what it cannot. `remarks`: where it contradicts itself or
    lacks results, as sentences. `server_host`: the machine, in the members of an envelope.
    """

    notes: str = ""
    remarks: tuple[str, ...] = ()
    server_host: Mapping[str, Any] = field(default_factory=dict)


NO_FACTS = ArchiveFacts()


class UnreadableFile(InvalidInput):
    """A file of an archive is not the JSON that it should be. The message is a sentence."""


def files_named(artefacts: Sequence[RawArtefact], name: str) -> list[RawArtefact]:
    """The files of this name, in whatever folder."""
    return [each for each in artefacts if PurePosixPath(each.name).name == name]


def read_object(artefact: RawArtefact, title: str) -> dict[str, Any]:
    """The JSON object in the file. Raises UnreadableFile; `title` says what it should be."""
    with artefact.open() as stream:
        data = read_up_to(stream, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableFile(f"{artefact.name} is larger than {MAX_BYTES >> 20} MiB: not read.")
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise UnreadableFile(f"{artefact.name} is not {title}: not read.") from None


def limited(sentences: Iterable[str]) -> tuple[str, ...]:
    """The first sentences, and how many more there are."""
    told = [printable(sentence) for sentence in sentences]
    more = len(told) - MAX_REMARKS
    if more > 0:
        told = [*told[:MAX_REMARKS], f"Further remarks about the archive, not listed: {more:,}."]
    return tuple(told)
