"""The demo of scripts/start on the front page, while it is measured."""

from django.conf import settings

from backend.fleet.models import Progress
from backend.fleet.progress import RunProgress, run_progress
from backend.web.management.commands.make_demo import NAME


def find_demo_in_progress() -> RunProgress | None:
    """The run that the demo measures now; None if none is measured, or is no longer heard of.

    On other services a workspace of that name is anybody's.
    """
    if not settings.LOCAL_SITE:
        return None
    of_demo = Progress.objects.filter(workspace__slug=NAME, agent__token__name=NAME)
    newest = of_demo.order_by("-heard_at").first()
    if newest is None:
        return None
    progress = run_progress(newest.run, workspace_ids=[newest.workspace_id])
    is_running = progress is not None and progress.state == Progress.State.RUNNING
    return progress if is_running else None
