"""HttpArena's current.json, which describes the machine, and its files without results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.formats.archive_facts import (
    NO_FACTS,
    ArchiveFacts,
    UnreadableFile,
    files_named,
    limited,
    read_object,
)
from backend.formats.archive_texts import HTTPARENA_NOTES, MACHINE, host_of
from backend.formats.model import ParsedTrial, RawArtefact
from backend.formats.text import read_up_to

# A file without results is `[]`.
EMPTY = b"[]"


def facts_of(artefacts: Sequence[RawArtefact], trials: Sequence[ParsedTrial]) -> ArchiveFacts:
    """What the archive says beside its summaries; nothing of an archive of another kind."""
    if not trials or any(trial.tool != "httparena" for trial in trials):
        return NO_FACTS
    machines, unreadable = _machines(files_named(artefacts, MACHINE))
    host = machines[0] if len(machines) == 1 else {}
    remarks = [*unreadable, *_several(machines), *_empty_files(artefacts)]
    return ArchiveFacts(HTTPARENA_NOTES, limited(remarks), host)


def _machines(artefacts: Sequence[RawArtefact]) -> tuple[list[dict[str, Any]], list[str]]:
    """The different machines that the files describe, and why the other files are not read."""
    machines: list[dict[str, Any]] = []
    unreadable = []
    for artefact in artefacts:
        try:
            host = host_of(read_object(artefact, "a description of a machine"))
        except UnreadableFile as reason:
            unreadable.append(str(reason))
            continue
        if host and host not in machines:
            machines.append(host)
    return machines, unreadable


def _several(machines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(machines) > 1:
        yield (
            f"The archive describes {len(machines)} machines, so the machine of its results is "
            "unknown. Upload each folder of results alone."
        )


def _empty_files(artefacts: Sequence[RawArtefact]) -> Iterator[str]:
    for artefact in artefacts:
        if artefact.name.endswith(".json"):
            with artefact.open() as stream:
                is_empty = read_up_to(stream, 100).strip() == EMPTY
            if is_empty:
                yield f"{artefact.name} has no results."
