"""`manage.py load_library`: the published benchmarks as runs and public result sets."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.accounts.workspace.workspaces import WorkspaceRefused
from backend.library.loading import load_library


class Command(BaseCommand):
    help = "Load the studies of the library into its public workspace; changes nothing twice."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            loaded = load_library()
        except WorkspaceRefused as refused:
            raise CommandError(f"{refused} {refused.hint}") from None
        self.stdout.write(json.dumps(asdict(loaded)))
