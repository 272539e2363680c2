"""The plan of a run as a file."""

from django.http import HttpResponse

from backend.runs.models import Run


def plan_file(run: Run) -> HttpResponse:
    """The run's plan as a download; UTF-8, so that its bytes are those of the hash."""
    response = HttpResponse(run.plan.encode(), content_type="application/toml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="plan-{str(run.pk)[:8]}.toml"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
