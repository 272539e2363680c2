"""What a line of the log belongs to: a request, a workspace, a task. Ids only, never names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_NOTHING: Mapping[str, str] = MappingProxyType({})
_context: ContextVar[Mapping[str, str]] = ContextVar("log_context", default=_NOTHING)


def current() -> Mapping[str, str]:
    """The ids that hold here: any of request_id, workspace, task_id, upload."""
    return _context.get()


def add(**ids: str) -> None:
    """Add ids for the rest of the enclosing `bound`."""
    _context.set({**_context.get(), **ids})


@contextmanager
def bound(**ids: str) -> Iterator[None]:
    """Ids that hold inside; what is added inside ends here too."""
    token = _context.set({**_context.get(), **ids})
    try:
        yield
    finally:
        _context.reset(token)
