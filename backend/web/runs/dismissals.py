"""Dismissing a check's findings in a run, and restoring them."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from backend.links import own_path, run_link
from backend.runs.amending.dismissals import dismiss, undo
from backend.web.base import visible
from backend.web.runs.run_edit import writable_run_or_404


@require_POST
def dismissals(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Fields: check, reason; undo=1 restores the finding.

    Redirects to `next`, a page of this site, or to the page of the run.
    """
    run = writable_run_or_404(request, run_id)
    viewer = visible.viewer(request)
    # PostgreSQL refuses to look for NUL.
    check_id = request.POST.get("check", "").replace("\0", "")
    if request.POST.get("undo") == "1":
        is_undone = undo(run, check_id, by=viewer)
        sentence = "The dismissal was undone." if is_undone else "There was no dismissal."
        messages.info(request, sentence)
    else:
        dismiss(run, check_id, reason=request.POST.get("reason", ""), author=viewer)
        messages.info(request, "The finding was dismissed. It stays visible with your reason.")
    page = own_path(request.POST.get("next", ""), run_link(run_id))
    return HttpResponseRedirect(f"{page.partition('#')[0]}#check-{check_id}")
