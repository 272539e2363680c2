"""manage.py publish_demo: a public result set of the demonstration, for the front page."""

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser
from django.db.models import Max

from backend.accounts.models import Workspace
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.units import time_text
from backend.runs.models import Series, Trial
from backend.sharing.freezing import Description, freeze
from backend.sharing.gallery import feature_if_none_is
from backend.sharing.models import ResultSet, Visibility
from backend.web.management.commands.make_demo import NAME

TITLE = "Four HTTP servers on one machine"
NOTES = (
    "`scripts/start` measured this on the machine that it runs on, with {tool}. Trials of two "
    "seconds show how Loadsheet works. Measure your own servers for 10 seconds or more."
)


class Command(BaseCommand):
    help = (
        "Freeze the demo's run as a public result set, unless there is one; prints "
        '{"path": …, "tool": …}.'
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=UUID, help="the id of the run that the demo measured")

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.get(slug=NAME)
        tool = _tool_text(options["run"])
        # The servers differ tenfold: on a linear axis the slow ones lie on each other.
        query = CompareQuery(logy=True).with_filters(run=[options["run"]])
        published = ResultSet.objects.filter(workspace=workspace, query=query.canonical()).first()
        if published is None:
            description = Description(
                title=TITLE, notes=NOTES.format(tool=tool), visibility=Visibility.PUBLIC
            )
            published = freeze(query, workspace=workspace, author=None, description=description)
            feature_if_none_is(published)
        self.stdout.write(json.dumps({"path": published.path, "tool": tool}))


def _tool_text(run_id: UUID) -> str:
    """`wrk 4.1.0, which prints latency in steps of 10 µs`."""
    trials = Trial.objects.filter(run=run_id, warmup=False)
    step_us = trials.aggregate(step=Max("latency_resolution_us"))["step"]
    series = Series.objects.filter(cells__run=run_id).order_by("tool").first()
    name = "an unknown load tool"
    if series is not None:
        name = f"{series.tool} {series.tool_version or ''}".strip()
    step = "unknown steps" if step_us is None else f"steps of {time_text(step_us)}"
    return f"{name}, which prints latency in {step}"
