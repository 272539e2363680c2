"""Raw load-tool output → ParsedTrial. Pure: no Django, no database."""

from backend.formats.model import FormatError, Latency, ParsedTrial, RawArtefact, TimeSlice
from backend.formats.reading import PARSER_VERSION, parse
from backend.formats.tools import TOOLS

__all__ = [
    "PARSER_VERSION",
    "TOOLS",
    "FormatError",
    "Latency",
    "ParsedTrial",
    "RawArtefact",
    "TimeSlice",
    "parse",
]
