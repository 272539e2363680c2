"""What a worker asks its parser about many trials: one message for as many as fit."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from backend.ingest.models import Artefact
from backend.untrusted.sandbox.sandbox import LocalArtefact, Question, sandbox

# Trials of one message to the parser, and of one question to the database.
ASKED_TOGETHER = 100
# Trials may share files, and a message has each of them again.
MESSAGE_BYTES = 4 << 20
# The artefacts of a trial, and its load tool.
Asked = tuple[Sequence[Artefact], str]


def messages_of(questions: Iterable[Asked]) -> Iterator[list[Asked]]:
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


def asked_in(
    message: Iterable[Asked], contents: Mapping[str, bytes]
) -> dict[tuple[object, ...], Question]:
    """The questions of a message by their keys, but for those with an artefact that is no row."""
    return {
        key_of(artefacts, tool): Question(_texts(artefacts, contents), tool)
        for artefacts, tool in message
        if all(item.sha256 in contents for item in artefacts)
    }


def key_of(artefacts: Sequence[Artefact], tool: str) -> tuple[object, ...]:
    """Equal for questions about the same bytes."""
    if len(artefacts) == 1:
        return (tool, artefacts[0].sha256)
    # Of several files, formats tell the parts of a result by their names.
    return (tool, *((item.name, item.sha256) for item in artefacts))


def _texts(artefacts: Sequence[Artefact], contents: Mapping[str, bytes]) -> list[LocalArtefact]:
    # As Latin-1 any bytes are a text, and the same bytes again.
    return [
        LocalArtefact(item.name, text=contents[item.sha256].decode("latin-1")) for item in artefacts
    ]


def ask_parser(
    files: Sequence[LocalArtefact], *, tool: str, meanwhile: Callable[[], None]
) -> dict[str, Any]:
    """The answer of this process's parser; as `Sandbox.read`."""
    return sandbox().read(files, tool=tool, meanwhile=meanwhile)
