"""What the parser answers about the artefacts of one upload, each question asked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from backend.ingest.models import Artefact
from backend.ingest.sandbox import LocalArtefact, Question, sandbox
from backend.ingest.storage import storage
from backend.ingest.storage.rows import contents_of

# Trials of one message to the parser, and of one question to the database.
ASKED_TOGETHER = 100
# Trials may share files, and a message has each of them again.
MESSAGE_BYTES = 4 << 20

# The artefacts of a trial, and its load tool.
Asked = tuple[Sequence[Artefact], str]


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

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def ask_ahead(self, questions: Sequence[Asked]) -> None:
        """Ask for trials, each with its load tool, whose artefacts are rows: many in one message.

        `to` then has the answers. Raises as `to`.
        """
        for message in _messages(questions):
            contents = contents_of({item.sha256 for artefacts, _ in message for item in artefacts})
            asked = {
                _key(artefacts, tool): Question(_texts(artefacts, contents), tool)
                for artefacts, tool in message
                if all(item.sha256 in contents for item in artefacts)
            }
            self._ask(asked)

    def _ask(self, asked: Mapping[tuple[object, ...], Question]) -> None:
        with closing(sandbox().read_each([*asked.values()], meanwhile=self._meanwhile)) as given:
            for key in asked:
                self._meanwhile()
                self._answers[key] = next(given)

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


def _messages(questions: Iterable[Asked]) -> Iterator[list[Asked]]:
    """The questions of one message each. Too large ones are left out, and so are those about
    nothing: these are asked one by one, with files."""
    message: list[Asked] = []
    message_bytes = 0
    for question in questions:
        size_bytes = sum(item.size_bytes for item in question[0])
        if not question[0] or size_bytes > MESSAGE_BYTES:
            continue
        is_full = len(message) == ASKED_TOGETHER or message_bytes + size_bytes > MESSAGE_BYTES
        if is_full:
            yield message
            message, message_bytes = [], 0
        message.append(question)
        message_bytes += size_bytes
    if message:
        yield message


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
