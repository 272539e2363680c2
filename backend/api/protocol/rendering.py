"""Answers as JSON, written by orjson where that gives the same bytes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

# Numbers that Python writes with an exponent, as orjson writes them: 1e16, 1e-7 and 0.00001 for
# 1e+16, 1e-07 and 1e-05. What looks so within a text does no harm: Python then writes that part.
# Two expressions: together they take five times as long.
_EXPONENTS = (re.compile(rb"e[-0-9][0-9]*(?:[,}\]]|\Z)"), re.compile(rb"0\.0000[0-9]"))
# JavaScript of before 2019 takes them for ends of lines, so Django REST framework escapes them.
_LINE_ENDS = ("\u2028".encode(), "\u2029".encode())
# What the encoder of Django REST framework writes in its own way is left to it.
_LEFT_ALONE = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


# Entries of a list that are written at once. While they are written, no other thread runs.
PART = 100


class JsonRenderer(JSONRenderer):
    """The renderer of Django REST framework, ten times as fast for the answer about a large run."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        context = dict(renderer_context or {})
        if data is not None and self.get_indent(accepted_media_type or "", context) is None:
            return b"".join(self._parts(data))
        answer: bytes = super().render(data, accepted_media_type, renderer_context)
        return answer

    def _parts(self, data: Any) -> Iterator[bytes]:
        """The JSON of `data`; a long list in it, and what holds the list, in parts."""
        if not _has_long_list(data):
            return iter((self._write(data),))
        if isinstance(data, Mapping):
            # Of {"name":null}, what stands in front of the value.
            members = ((self._write({name: None})[1:-5], value) for name, value in data.items())
            return _join(
                b"{", (chain((name,), self._parts(value)) for name, value in members), b"}"
            )
        if len(data) > PART:
            lists = (data[first : first + PART] for first in range(0, len(data), PART))
            return _join(b"[", ((self._write(each)[1:-1],) for each in lists), b"]")
        return _join(b"[", map(self._parts, data), b"]")

    def _write(self, data: Any) -> bytes:
        written = _written(data)
        answer: bytes = super().render(data) if written is None else written
        return answer


def _join(opening: bytes, members: Iterable[Iterable[bytes]], closing: bytes) -> Iterator[bytes]:
    separator = opening
    for member in members:
        yield separator
        yield from member
        separator = b","
    yield closing


def _has_long_list(data: Any) -> bool:
    if isinstance(data, Mapping):
        return any(_has_long_list(value) for value in data.values())
    if not isinstance(data, list | tuple):
        return False
    return len(data) > PART or any(map(_has_long_list, data))


def _written(data: Any) -> bytes | None:
    """The bytes that Django REST framework would write too; None if it may write others."""
    try:
        written = orjson.dumps(data, option=_LEFT_ALONE)
    except TypeError:
        return None
    has_exponent = any(exponent.search(written) for exponent in _EXPONENTS)
    has_line_end = not written.isascii() and any(end in written for end in _LINE_ENDS)
    return None if has_exponent or has_line_end else written


class AnyFormat(BaseContentNegotiation):
    """The address already says the format, so Accept is not asked."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type
