"""For how many days a workspace keeps raw output."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST

from backend.accounts.people.workspaces import change_settings
from backend.ingest.removing.retention import DAYS, count_due_output
from backend.links import link_to
from backend.web.base import visible
from backend.web.workspace.settings_page import settings_form
from backend.whole_numbers import whole_number


@require_POST
def raw_output(request: HttpRequest, slug: str) -> HttpResponse:
    """Fields: days (empty: for ever), and is_confirmed where raw output goes now.

    Without is_confirmed the page says how much would be removed, and asks again.
    """
    workspace = visible.administered_workspace_or_404(request, slug)
    text = request.POST.get("days", "").strip()
    days = whole_number(text, DAYS)
    if text and days is None:
        sentence = (
            f"The days are “{text[:20]}”; expected a whole number from {DAYS.start} to "
            f"{DAYS.stop - 1}, or nothing."
        )
        return settings_form(request, workspace, refused={"raw_output": sentence})
    if days is not None and not request.POST.get("is_confirmed"):
        due = count_due_output(workspace, days)
        if due.files:
            context = {"workspace": workspace, "days": days, "due": due}
            return render(request, "raw_output.html", context)
    change_settings(workspace, {"raw_kept_days": days})
    kept = "for ever" if days is None else f"for {days} day{'' if days == 1 else 's'}"
    messages.info(request, f"Saved. Raw output is kept {kept}.")
    return HttpResponseRedirect(link_to("settings", workspace.slug))
