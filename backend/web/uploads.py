"""Sending files in the browser: what is read is shown before it is saved; then where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from backend.accounts import throttle
from backend.accounts.models import User, Workspace
from backend.analysis.grouping.fired_checks import describe_check, find_check
from backend.ingest.cleaning import CannotClean
from backend.ingest.dry_run import DryFile, DryTrial, dry_run
from backend.ingest.envelope import Envelope, EnvelopeError, read_envelope
from backend.ingest.evidence import listed
from backend.ingest.receive import IncomingFile, Sender, UploadTooLarge, receive
from backend.ingest.sandbox import ParserFailed
from backend.web import visible
from backend.web.home import curl_command

PASTED = "pasted.txt"
# Fields of the form, and where they stand in the envelope.
SAID = {
    "server": ("server", "name"),
    "version": ("server", "version"),
    "runtime": ("server", "runtime"),
    "workload": ("workload", "name"),
}
SAME_HOST = {"yes": True, "no": False}


class NotSent(Exception):
    """The form cannot be taken; the message says why, as a sentence."""

    def __init__(self, sentence: str, *, status: int = 400, wait: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.wait = status, wait


@require_safe
def upload(request: HttpRequest, upload_id: UUID) -> HttpResponse:
    """What became of an upload; the page asks again until it has ended."""
    found = visible.upload_or_404(request, upload_id)
    context = {
        "workspace": found.workspace,
        "nav": "runs",
        "upload": found,
        "artefacts": [listed(row) for row in found.artefacts.all()],
        "api_url": f"/api/v1/uploads/{found.pk}",
        "run_url": f"/r/{found.result_run_id}" if found.result_run_id else "",
    }
    return render(request, "upload.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Drop or paste. With action=save it is an upload like any other, else it is only read."""
    workspace = visible.writable_workspace_or_404(request, slug)
    user = visible.viewer(request)
    if request.method != "POST" or user is None:
        return _form(request, workspace)
    try:
        if request.POST.get("action") == "save":
            return _save(request, workspace, user)
        return _form(request, workspace, files=_read(request, workspace, user))
    except NotSent as refused:
        response = _form(request, workspace, refused=str(refused), status=refused.status)
        if refused.wait:
            response["Retry-After"] = str(refused.wait)
        return response


def _read(request: HttpRequest, workspace: Workspace, user: User) -> list[DryFile]:
    files, raw = _files(request), _envelope(request)
    if wait := throttle.seconds_until_preview(str(user.pk)):
        raise NotSent(f"Too much was read within a minute. Wait {wait} s.", status=429, wait=wait)
    try:
        envelope = Envelope() if raw is None else read_envelope(raw)
        return dry_run(workspace, files, envelope)
    except EnvelopeError as error:
        raise NotSent(str(error)) from None
    except UploadTooLarge as error:
        raise NotSent(f"{error} Save it without looking.", status=413) from None
    except ParserFailed as busy:
        raise NotSent(str(busy), status=503) from None


def _save(request: HttpRequest, workspace: Workspace, user: User) -> HttpResponse:
    files, raw = _files(request), _envelope(request)
    if wait := throttle.seconds_until_upload(str(user.pk)):
        raise NotSent(f"Too many uploads within a minute. Wait {wait} s.", status=429, wait=wait)
    sender = Sender(workspace.pk, token_id=None, user_id=user.pk)
    try:
        receipt = receive(sender, files, raw_envelope=raw)
    except EnvelopeError as error:
        raise NotSent(str(error)) from None
    except UploadTooLarge as error:
        raise NotSent(str(error), status=413) from None
    except CannotClean as error:
        raise NotSent(f"{error} Send it uncompressed, or in pieces.", status=422) from None
    return HttpResponseRedirect(f"/u/{receipt.upload.pk}")


def _files(request: HttpRequest) -> list[IncomingFile]:
    files: list[IncomingFile] = [file for file in request.FILES.getlist("file") if file.size]
    pasted = request.POST.get("paste", "")
    if pasted.strip():
        files.append(SimpleUploadedFile(PASTED, pasted.replace("\r\n", "\n").encode()))
    if not files:
        raise NotSent("Nothing was sent: paste what the load tool printed, or choose its file.")
    return files


def _envelope(request: HttpRequest) -> dict[str, Any] | None:
    """What was said of the measurement, as an envelope; None where nothing was."""
    envelope: dict[str, Any] = {}
    for name, (part, key) in SAID.items():
        if text := request.POST.get(name, "").strip():
            envelope.setdefault(part, {})[key] = text
    if host := request.POST.get("host", "").strip():
        envelope["hosts"] = {"server": {"name": host}}
    if (same := SAME_HOST.get(request.POST.get("same_host", ""))) is not None:
        envelope["same_host"] = same
    return {"schema": 1, **envelope} if envelope else None


def _form(
    request: HttpRequest,
    workspace: Workspace,
    *,
    files: Sequence[DryFile] | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "workspace": workspace,
        "nav": "runs",
        "given": {name: request.POST.get(name, "") for name in (*SAID, "host", "same_host")},
        "pasted": request.POST.get("paste", ""),
        "files": None if files is None else [_shown(file) for file in files],
        "found": sum(len(file.trials) for file in files or ()),
        "refused": refused,
        "curl_command": curl_command(),
    }
    return render(request, "new_upload.html", context, status=status)


def _shown(file: DryFile) -> dict[str, Any]:
    return {
        "name": file.name,
        "refusals": file.refusals,
        "trials": [_trial(trial) for trial in file.trials],
    }


def _trial(trial: DryTrial) -> dict[str, Any]:
    findings = [
        {**describe_check(find_check(finding.id)), "detail": finding.detail}
        for finding in trial.findings
    ]
    return {"trial": trial, "checks": findings, **trial.figures}
