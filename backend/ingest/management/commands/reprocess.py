"""`manage.py reprocess`: read stored uploads again with this version's parser."""

import sys
from argparse import ArgumentParser
from collections import Counter
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from backend.formats import PARSER_VERSION
from backend.ingest.models import Upload
from backend.ingest.removing.retention import RawOutputRemoved
from backend.ingest.reprocessing.reprocess import NotEnded, outdated, reprocess
from backend.ingest.reprocessing.rereadings import lines_about

NO_RAW_OUTPUT = "without raw output"
OUTCOMES = ("changed", "unchanged", "refused", "stopped", "left to the workers", NO_RAW_OUTPUT)


class Command(BaseCommand):
    help = (
        "Read stored uploads again with this version's parser. Each result is replaced as a whole; "
        "what changed is printed and kept beside the upload."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("uploads", nargs="*", type=UUID, metavar="UPLOAD", help="ids")
        parser.add_argument(
            "--all",
            action="store_true",
            help="also uploads that this parser version has already read",
        )

    def handle(self, *, uploads: list[UUID], all: bool, **_: Any) -> None:  # noqa: A002
        ids = uploads or self._ids(everything=all)
        self.stdout.write(f"{len(ids)} uploads to read with parser {PARSER_VERSION}")
        outcomes: Counter[str] = Counter()
        for number, upload_id in enumerate(ids, 1):
            head = f"[{number}/{len(ids)}] {upload_id}"
            try:
                rereading = reprocess(upload_id)
            except Upload.DoesNotExist:
                raise CommandError(f"There is no upload {upload_id}.") from None
            except NotEnded:
                outcomes["left to the workers"] += 1
                self.stdout.write(f"{head}: not read yet; a worker will read it")
                continue
            except RawOutputRemoved as removed:
                outcomes[NO_RAW_OUTPUT] += 1
                self.stdout.write(f"{head}: not read, the figures stay: {removed}")
                continue
            outcomes[rereading.outcome] += 1
            self.stdout.write("\n".join(lines_about(head, rereading)))
        counts = ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in OUTCOMES)
        self.stdout.write(f"{len(ids)} uploads: {counts}")
        if outcomes["refused"] or outcomes["stopped"]:
            sys.exit(1)

    def _ids(self, *, everything: bool) -> list[UUID]:
        rows = Upload.objects.order_by("received_at") if everything else outdated()
        return list(rows.values_list("pk", flat=True))
