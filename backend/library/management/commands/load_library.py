"""`manage.py load_library`: the published benchmarks as runs and public result sets."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from backend.library.loading import load_library


class Command(BaseCommand):
    help = "Load the studies of the library into its public workspace; changes nothing twice."

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = load_library()
        self.stdout.write(
            json.dumps(
                {
                    "uploads": loaded.uploads,
                    "removed": loaded.removed,
                    "result_sets": loaded.result_sets,
                    "paths": loaded.paths,
                }
            )
        )
