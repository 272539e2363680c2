"""Uploading in the browser: a preview, then the state of the upload."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import PREVIEWS, UPLOADS
from backend.accounts.models import User, Workspace
from backend.errors import Away, LoadsheetError, Refused
from backend.ingest.envelope.envelope import Envelope, read_envelope
from backend.ingest.envelope.envelope_times import refuse_future_times
from backend.ingest.listing.listed_artefacts import artefacts_of_upload, find_earlier_uploads
from backend.ingest.listing.listed_uploads import ListedUpload, Which
from backend.ingest.listing.listing import upload_page
from backend.ingest.preview.dry_records import DryFile
from backend.ingest.preview.dry_run import dry_run
from backend.ingest.receiving.receive import Sender, receive
from backend.links import link_to, run_link
from backend.problems import headers_of, set_headers
from backend.runs.tables.names import MAX_NOTES
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.web.base import visible
from backend.web.base.first_steps import curl_command
from backend.web.uploads.previews import (
    empty_files_text,
    explain_refusal,
    preview_context,
    sent_files,
)
from backend.web.uploads.upload_details import BOXES, DETAILS, SHARED_DETAILS, read_details

UPLOADS_PER_PAGE, MOST_OPEN = 50, 10
OPEN_FOR = timedelta(days=14)
# The page of an upload that was just saved.
TO_THE_RUN = {"then": "run"}
SAVE, SAVE_ANOTHER = "save", "save_another"


@dataclass(frozen=True, slots=True)
class UploadChoice:
    """A choice of uploads: which, the link to it, and the words of its page."""

    which: Which
    link: str
    title: str
    nothing: str = ""


# By the value of `state` in the link.
LISTS = {
    "": UploadChoice(Which.ALL, "All uploads", "Uploads"),
    "failed": UploadChoice(Which.FAILED, "Failed only", "Failed uploads", "No upload failed."),
    "partial": UploadChoice(
        Which.PARTIAL,
        "Partly read only",
        "Partly read uploads",
        "Every upload was read completely.",
    ),
}


@require_safe
def uploads(request: HttpRequest, slug: str) -> HttpResponse:
    """The uploads of a workspace, newest first; `state` leaves the failed or partly read."""
    workspace = visible.own_workspace_or_404(request, slug)
    state = request.GET.get("state", "")
    chosen = state if state in LISTS else ""
    after = request.GET.get("after", "")
    listed = LISTS[chosen]
    page = upload_page(workspace.pk, which=listed.which, after=after, limit=UPLOADS_PER_PAGE)
    context = {
        "workspace": workspace,
        "nav": "runs",
        "uploads": page.rows,
        "title": listed.title,
        "nothing": listed.nothing,
        "chosen": chosen,
        "choices": [
            (other.link, _list_url(slug, name)) for name, other in LISTS.items() if name != chosen
        ],
        "first_url": _list_url(slug, chosen) if after else "",
        "next_url": _list_url(slug, chosen, after=page.next) if page.next else "",
        "all_url": _list_url(slug, ""),
    }
    return render(request, "uploads.html", context)


def _list_url(slug: str, state: str, *, after: str = "") -> str:
    fields = {"state": state, "after": after}
    query = {name: text for name, text in fields.items() if text}
    return link_to("uploads-page", slug, query=query)


def open_uploads(workspace: Workspace) -> Sequence[ListedUpload]:
    """The uploads of the last days that are no run: those that wait, are read, or failed."""
    since = timezone.now() - OPEN_FOR
    return upload_page(workspace.pk, which=Which.UNREAD, since=since, limit=MOST_OPEN).rows


@require_safe
def upload(request: HttpRequest, upload_id: UUID) -> HttpResponse:
    """The state of an upload. The page reloads its state until the upload has ended.

    After saving it leads to the run as soon as all was read; a reason is shown first.
    """
    upload = visible.upload_or_404(request, upload_id)
    if request.GET.dict() == TO_THE_RUN and upload.result_run_id and not upload.reason:
        return HttpResponseRedirect(run_link(upload.result_run_id))
    context = {
        "workspace": upload.workspace,
        "nav": "runs",
        "upload": upload,
        "artefacts": artefacts_of_upload(upload.pk),
        "api_url": link_to("upload", upload.pk),
        "run_url": run_link(upload.result_run_id) if upload.result_run_id else "",
        "may_write": visible.may_write(request, upload.workspace),
    }
    return render(request, "upload.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """The upload form. action=save stores the files, any other action shows a preview.

    action=save_another leads to the form again, with the details that the next output may share.
    """
    workspace = visible.writable_workspace_or_404(request, slug)
    user = visible.viewer(request)
    if request.method != "POST" or user is None:
        return _form(request, workspace)
    try:
        if request.POST.get("action") in (SAVE, SAVE_ANOTHER):
            return _save(request, workspace, user)
        return _form(request, workspace, files=_read(request))
    except (Refused, ParserFailed, Away) as error:
        return _refused_form(request, workspace, error)


def _refused_form(
    request: HttpRequest, workspace: Workspace, error: LoadsheetError
) -> HttpResponse:
    """The form as it was sent, with what happened and what to do."""
    sentence, answer = explain_refusal(error)
    response = _form(request, workspace, refused=sentence, status=answer.status)
    set_headers(response, headers_of(error, answer))
    return response


def _read(request: HttpRequest) -> list[DryFile]:
    files, raw = sent_files(request), read_details(request.POST.dict())
    viewer = visible.viewer_name(request)
    throttle.require(PREVIEWS, throttle.payer_of(viewer))
    envelope = Envelope() if raw is None else read_envelope(raw)
    refuse_future_times(envelope)
    return dry_run(files, envelope, owner=viewer)


def _save(request: HttpRequest, workspace: Workspace, user: User) -> HttpResponse:
    files, raw = sent_files(request), read_details(request.POST.dict())
    throttle.require(UPLOADS, throttle.payer_of(user.pk))
    sender = Sender(workspace.pk, token_id=None, user_id=user.pk)
    receipt = receive(sender, files, raw_envelope=raw)
    if left_out := empty_files_text(request):
        messages.warning(request, f"{left_out} The other files were saved.")
    if request.POST["action"] == SAVE:
        return HttpResponseRedirect(link_to("upload-page", receipt.upload.pk, query=TO_THE_RUN))
    messages.info(request, "Saved. Add the next output, and enter its version.")
    shared = {name: text for name in SHARED_DETAILS if (text := request.POST.get(name, ""))}
    return HttpResponseRedirect(link_to("new-upload", workspace.slug, query=shared))


def _form(
    request: HttpRequest,
    workspace: Workspace,
    *,
    files: Sequence[DryFile] | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    given = {name: request.POST.get(name, request.GET.get(name, "")) for name in DETAILS}
    hashes = [file.sha256 for file in files or () if file.sha256]
    earlier = find_earlier_uploads(workspace.pk, hashes)
    context = {
        "workspace": workspace,
        "nav": "runs",
        "given": given,
        "boxes": [(*box, given[box[0]]) for box in BOXES],
        "max_notes": MAX_NOTES,
        "curl_command": curl_command(),
        **preview_context(request, files=files, earlier=earlier, refused=refused),
    }
    return render(request, "new_upload.html", context, status=status)
