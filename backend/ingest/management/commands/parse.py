"""`manage.py parse FILE...`: what the formats read, as JSON in the corpus contract's shape."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand

from backend.formats import TOOLS, FormatError, RawArtefact, parse
from backend.ingest.preview.corpus_json import as_corpus_json
from backend.untrusted.archives.archives import files_of
from backend.untrusted.archives.decompress import DecompressionRefused


class Command(BaseCommand):
    help = "Parse load-tool output, and print one JSON object per file."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--tool", choices=sorted(TOOLS), help="refuse output of other tools")
        parser.add_argument(
            "--together", action="store_true", help="all files are artefacts of one trial"
        )

    def handle(self, *, files: list[Path], tool: str | None, together: bool, **_: Any) -> None:
        groups = [files] if together else [[file] for file in files]
        refused = [line for line in (self._print(group, tool) for group in groups) if line]
        for line in refused:
            self.stderr.write(line)
        if refused:
            sys.exit(1)

    def _print(self, group: Sequence[Path], tool: str | None) -> str:
        """Print one object; the refusals, a line each, if there are some."""
        name = ", ".join(str(file) for file in group)
        try:
            entries = [as_corpus_json(entry) for entry in parse(_read(group), tool=tool)]
        except (FormatError, DecompressionRefused, OSError) as error:
            entries = [{"error": str(error)}]
        body = entries[0] if len(entries) == 1 else {"runs": entries}
        self.stdout.write(orjson.dumps({"file": name, **body}).decode())
        return "\n".join(f"{name}: {entry['error']}" for entry in entries if "error" in entry)


def _read(group: Sequence[Path]) -> list[RawArtefact]:
    limit = settings.DECOMPRESSED_MAX_BYTES
    return [
        artefact
        for file in group
        for artefact in files_of(file.name, _opener_of(file), limit_bytes=limit)
    ]


def _opener_of(file: Path) -> Callable[[], BinaryIO]:
    return lambda: file.open("rb")
