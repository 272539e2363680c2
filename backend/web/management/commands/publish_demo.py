"""manage.py publish_demo: a public result set of the demonstration, for the front page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser

from backend.accounts.models import Workspace
from backend.analysis.query.compare_query import CompareQuery
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import ResultSet, Visibility
from backend.web.management.commands.make_demo import NAME

NOTES = (
    "`scripts/start` measured this on the machine that it runs on. Trials of one second show how "
    "Loadsheet works. They are no basis for choosing a server."
)


class Command(BaseCommand):
    help = "Freeze the demo's run as a public result set, unless there is one; prints its path."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=UUID, help="the id of the run that the demo measured")

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.get(slug=NAME)
        query = CompareQuery().with_filters(run=[options["run"]])
        published = ResultSet.objects.filter(workspace=workspace, query=query.canonical()).first()
        if published is None:
            published = freeze(
                query,
                workspace=workspace,
                author=None,
                description=Description(notes=NOTES, visibility=Visibility.PUBLIC),
            )
        self.stdout.write(published.path)
