"""What the parser answers about the artefacts of one upload, each question asked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from backend.ingest.models import Artefact
from backend.ingest.sandbox import LocalArtefact, Question, sandbox
from backend.ingest.storage import storage
from backend.ingest.storage.rows import contents_of

# Trials of one message to the parser, and of one question to the database.
ASKED_TOGETHER = 100


class Answers:
    """A context: an artefact that several trials name is fetched once, and read once by each tool.

    `meanwhile` is called before each trial and every second while the parser works.
    """

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile
        self._files = ExitStack()
        self._paths: dict[str, Path] = {}
        self._answers: dict[tuple[object, ...], dict[str, Any]] = {}

    def __enter__(self) -> Answers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._files.close()

    def ask_ahead(self, questions: Sequence[tuple[Sequence[Artefact], str]]) -> None:
        """Ask for trials, each with its load tool, whose artefacts are rows: many in one message.

        `to` then has the answers. Raises as `to`.
        """
        left = iter(questions)
        while together := list(islice(left, ASKED_TOGETHER)):
            hashes = {item.sha256 for artefacts, _ in together for item in artefacts}
            contents = contents_of(hashes)
            asked = {
                _key(artefacts, tool): Question(_texts(artefacts, contents), tool)
                for artefacts, tool in together
                if artefacts and all(item.sha256 in contents for item in artefacts)
            }
            if not asked:
                continue
            self._meanwhile()
            given = sandbox().read_each(list(asked.values()), meanwhile=self._meanwhile)
            with closing(given):
                self._answers |= zip(asked, given, strict=True)

    def to(self, artefacts: Sequence[Artefact], *, tool: str) -> dict[str, Any]:
        """The parser's answer (as `Sandbox.read`) about one trial's artefacts.

        Empty for a trial without artefacts. Raises ParserFailed, StorageAway, FileNotFoundError,
        and what `meanwhile` raises.
        """
        if not artefacts:
            return {}
        self._meanwhile()
        key = _key(artefacts, tool)
        if key not in self._answers:
            files = [LocalArtefact(item.name, self._path(item.sha256)) for item in artefacts]
            self._answers[key] = ask_parser(files, tool=tool, meanwhile=self._meanwhile)
        return self._answers[key]

    def _path(self, sha256: str) -> Path:
        if sha256 not in self._paths:
            self._paths[sha256] = self._files.enter_context(storage().local_path(sha256))
        return self._paths[sha256]


def ask_parser(
    files: Sequence[LocalArtefact], *, tool: str, meanwhile: Callable[[], None]
) -> dict[str, Any]:
    """The answer of this process's parser; as `Sandbox.read`."""
    return sandbox().read(files, tool=tool, meanwhile=meanwhile)


def _key(artefacts: Sequence[Artefact], tool: str) -> tuple[object, ...]:
    if len(artefacts) == 1:
        return (tool, artefacts[0].sha256)
    # Of several files, formats tell the parts of a result by their names.
    return (tool, *((item.name, item.sha256) for item in artefacts))


def _texts(artefacts: Sequence[Artefact], contents: Mapping[str, bytes]) -> list[LocalArtefact]:
    # As Latin-1 any bytes are a text, and the same bytes again.
    return [
        LocalArtefact(item.name, text=contents[item.sha256].decode("latin-1")) for item in artefacts
    ]
