"""What the parser answers about the artefacts of one upload, each question asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import orjson

from backend.ingest.models import Artefact
from backend.ingest.reading.questions import Asked, ask_parser, asked_in, key_of, messages_of
from backend.storage import storage
from backend.storage.rows import contents_of
from backend.untrusted.sandbox.sandbox import LocalArtefact, sandbox

# Of all trials of an upload, as JSON; each has its time series packed, of 10 KB for ten minutes.
MOST_BYTES = 128 << 20
TOO_MUCH = (
    f"This trial was not read: the earlier trials of its upload reached the limit of "
    f"{MOST_BYTES >> 20} MiB. Its output is kept. Send the trials in several uploads."
)


class Answers:
    """A context: an artefact that several trials name is fetched once, and read once by each tool.

    `meanwhile` is called before each trial and every second while the parser works. What is kept
    here, and what is given, has MOST_BYTES at the most: the other answers are refusals.
    """

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile
        self._files = ExitStack()
        self._paths: dict[str, Path] = {}
        self._answers: dict[tuple[object, ...], dict[str, Any]] = {}
        self._sizes: dict[tuple[object, ...], int] = {}
        self._kept_bytes = self._given_bytes = 0

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def ask_ahead(self, questions: Sequence[Asked]) -> None:
        """Ask for trials, each with its load tool, whose artefacts are rows: many in one message.

        `to` then has the answers. Raises as `to`.
        """
        for message in messages_of(questions):
            contents = contents_of({item.sha256 for artefacts, _ in message for item in artefacts})
            asked = asked_in(message, contents)
            reading = sandbox().read_each([*asked.values()], meanwhile=self._meanwhile)
            with closing(reading) as given:
                for key in asked:
                    self._meanwhile()
                    self._keep(key, next(given))

    def to(self, artefacts: Sequence[Artefact], *, tool: str) -> dict[str, Any]:
        """The parser's answer (as `Sandbox.read`) about one trial's artefacts.

        Empty for a trial without artefacts. Raises ParserFailed, StorageAway, FileNotFoundError,
        and what `meanwhile` raises.
        """
        if not artefacts:
            return {}
        self._meanwhile()
        key = key_of(artefacts, tool)
        if key not in self._answers:
            files = [LocalArtefact(item.name, self._path(item.sha256)) for item in artefacts]
            self._keep(key, ask_parser(files, tool=tool, meanwhile=self._meanwhile))
        # A trial that shares its artefacts has figures of its own.
        self._given_bytes += self._sizes[key]
        answer = self._answers[key]
        return answer if self._given_bytes <= MOST_BYTES else _refused(answer)

    def _keep(self, key: tuple[object, ...], answer: dict[str, Any]) -> None:
        size = len(orjson.dumps(answer))
        self._kept_bytes += size
        if self._kept_bytes > MOST_BYTES:
            answer = _refused(answer)
        self._answers[key], self._sizes[key] = answer, size

    def _path(self, sha256: str) -> Path:
        if sha256 not in self._paths:
            self._paths[sha256] = self._files.enter_context(storage().local_path(sha256))
        return self._paths[sha256]


def _refused(answer: dict[str, Any]) -> dict[str, Any]:
    return {"version": answer.get("version", ""), "refused": TOO_MUCH}
