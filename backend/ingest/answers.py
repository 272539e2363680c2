"""What the parser answers about the artefacts of one upload, each question asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from backend.ingest.models import Artefact
from backend.ingest.sandbox import LocalArtefact, sandbox
from backend.ingest.storage import storage


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

    def to(self, artefacts: Sequence[Artefact], *, tool: str) -> dict[str, Any]:
        """The parser's answer (as `Sandbox.read`) about one trial's artefacts.

        Empty for a trial without artefacts. Raises ParserFailed, StorageAway, FileNotFoundError,
        and what `meanwhile` raises.
        """
        if not artefacts:
            return {}
        self._meanwhile()
        key = (tool, *_content(artefacts))
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


def _content(artefacts: Sequence[Artefact]) -> Sequence[object]:
    if len(artefacts) == 1:
        return [artefacts[0].sha256]
    # Of several files, formats tell the parts of a result by their names.
    return [(item.name, item.sha256) for item in artefacts]
