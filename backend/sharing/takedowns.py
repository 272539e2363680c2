"""Reporting what is public, taking it down with a reason, and restoring it.

A workspace stays closed while a run of it is taken down. A takedown of a run closes its link alone.
Who reads the workspace would read the run again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import REPORTS
from backend.accounts.mail.held_mail import WorkspaceMail
from backend.accounts.mail.mailed_addresses import mailed_addresses
from backend.accounts.mail.outgoing_mail import send
from backend.accounts.models import Act, Role, User, Workspace
from backend.accounts.takedown_models import Report, Takedown, Thing
from backend.accounts.workspace.takedowns import how_to_object
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.email_address import what_is_wrong
from backend.errors import Conflict, InvalidInput
from backend.links import absolute, link_to
from backend.runs.models import Run
from backend.sharing.models import ResultSet, SharedRun, Visibility
from backend.sharing.readers import visibility_of
from backend.sharing.workspace_secrets import NotOpened
from backend.visible_text import visible_line

log = logging.getLogger(__name__)

MAX_TEXT = 2_000
MAX_PAGE = 2_000


class BadReport(InvalidInput):
    """A field of the report is not accepted. Nothing was stored."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


class BadTakedown(InvalidInput):
    """The reason of a takedown is missing. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class PublicThing:
    """What a report is about. `title`: what its readers know it by."""

    kind: Thing
    id: UUID
    workspace: Workspace
    title: str


def thing_of_result_set(result_set: ResultSet) -> PublicThing:
    """A result set, which has a title and notes of its own."""
    title = result_set.title or "Untitled"
    return PublicThing(Thing.RESULT_SET, result_set.pk, result_set.workspace, title)


def thing_of_workspace(workspace: Workspace) -> PublicThing:
    """A workspace with all its pages."""
    return PublicThing(Thing.WORKSPACE, workspace.pk, workspace, workspace.name)


def thing_of_shared_run(shared: SharedRun) -> PublicThing:
    """A shared run; of a public workspace the whole of it, whose other pages show the run too."""
    workspace = shared.run.workspace
    if workspace.is_public:
        return thing_of_workspace(workspace)
    return PublicThing(Thing.RUN, shared.run_id, workspace, f"Run {shared.run_id}")


def report(
    thing: PublicThing, *, page: str, reason: str, text: str, email: str, sender: throttle.Payer
) -> Report:
    """Store a report and mail it to the staff, the first of each thing until it is closed.

    `sender`: who pays for the limit; it is not stored. Raises BadReport and TooOften.
    """
    text, email = text.strip().replace("\0", ""), email.strip()
    if reason not in Report.Reason.values:
        raise BadReport("reason", "No reason is chosen. Choose one of the list.")
    if len(text) > MAX_TEXT:
        raise BadReport(
            "text", f"The text has {len(text):,} characters; expected at most {MAX_TEXT:,}."
        )
    if email and (wrong := what_is_wrong(email)):
        raise BadReport("email", f"{wrong} You may leave it empty.")
    throttle.require(REPORTS, sender)
    is_first = not open_reports().filter(kind=thing.kind, thing_id=thing.id).exists()
    stored = Report.objects.create(
        workspace=thing.workspace,
        kind=thing.kind,
        thing_id=thing.id,
        page=page[:MAX_PAGE],
        reason=reason,
        text=text,
        email=email,
    )
    if is_first:
        _tell_staff(stored, thing)
    return stored


def title_of(kind: Thing, thing_id: UUID, workspace: Workspace) -> str:
    """What staff and owners read of a thing: its kind and its title."""
    if kind == Thing.WORKSPACE:
        return f"the workspace “{workspace.name}”"
    if kind == Thing.RUN:
        return f"run {str(thing_id)[:8]}"
    titles = ResultSet.objects.filter(pk=thing_id).values_list("title", flat=True)
    return f"the result set “{titles.first() or 'Untitled'}”"


def page_of(kind: Thing, thing_id: UUID, workspace: Workspace) -> str:
    """The path of its page for members; that of the workspace where it was deleted."""
    if kind == Thing.RUN:
        return link_to("run-page", thing_id)
    shown = ResultSet.objects.filter(pk=thing_id).first() if kind == Thing.RESULT_SET else None
    return link_to("workspace", workspace.slug) if shown is None else shown.path


def with_titles(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Reports or takedowns, each with the `title` of its thing; empty for a run."""
    titles = ResultSet.objects.filter(pk=OuterRef("thing_id")).values("title")
    title = Case(
        When(kind=Thing.RESULT_SET, then=Subquery(titles[:1])),
        When(kind=Thing.WORKSPACE, then=F("workspace__name")),
        default=Value(""),
        output_field=TextField(),
    )
    titled: QuerySet[Any] = rows.select_related("workspace").annotate(title=title)
    return titled


def open_reports() -> QuerySet[Report]:
    """The reports that nobody closed."""
    return Report.objects.filter(closed_at=None)


@transaction.atomic
def take_down(report: Report, *, reason: str, is_legal: bool, by: User) -> Takedown:
    """Close what was reported to people outside its workspace, and its open reports.

    Of a run whose workspace others read by now, the workspace is closed: its pages show the run.
    Raises BadTakedown without a reason, Conflict where it was taken down before, and NotFound
    where the workspace was deleted.
    """
    reason = " ".join(reason.replace("\0", " ").split())
    if not reason:
        raise BadTakedown("The reason is empty. Readers and members see it; write one.")
    # One at a time.
    workspace = lock_workspace(report.workspace_id)
    kind, thing_id = Thing(report.kind), report.thing_id
    if kind == Thing.RUN and visibility_of(workspace) != Visibility.PRIVATE:
        kind, thing_id = Thing.WORKSPACE, workspace.pk
    if Takedown.objects.active().filter(kind=kind, thing_id=thing_id).exists():
        raise Conflict(f"This {kind} is taken down already.")
    takedown = Takedown.objects.create(
        workspace=workspace,
        kind=kind,
        thing_id=thing_id,
        reason=reason[:500],
        is_legal=is_legal,
        by=by,
    )
    named = Q(kind=report.kind, thing_id=report.thing_id) | Q(kind=kind, thing_id=thing_id)
    rows = open_reports().filter(named)
    rows.update(closed_at=timezone.now(), closed_by=by, takedown=takedown)
    _record(
        Act.STAFF_TAKEDOWN,
        takedown,
        reason=takedown.reason,
        for_legal_reasons="yes" if is_legal else "no",
    )
    transaction.on_commit(lambda: _tell_owners(takedown, report.page))
    return takedown


@transaction.atomic
def restore(takedown: Takedown, *, by: User) -> None:
    """Let people outside the workspace read it again, as its members share it now.

    Raises Conflict where it was restored before.
    """
    rows = Takedown.objects.active().filter(pk=takedown.pk)
    if not rows.update(lifted_at=timezone.now(), lifted_by=by):
        raise Conflict("This takedown was lifted already.")
    _record(Act.STAFF_RESTORED, takedown)
    transaction.on_commit(lambda: _tell_owners_restored(takedown))


def same_reports(report: Report) -> QuerySet[Report]:
    """The open reports of the same thing, the report itself included."""
    return open_reports().filter(kind=report.kind, thing_id=report.thing_id)


def close(report: Report, *, by: User) -> int:
    """Leave what was reported as it is; how many reports that closed."""
    return same_reports(report).update(closed_at=timezone.now(), closed_by=by)


def _record(act: Act, takedown: Takedown, **detail: Any) -> None:
    thing = Thing(takedown.kind), takedown.thing_id, takedown.workspace
    subject, page = title_of(*thing), page_of(*thing)
    record(
        act, takedown.workspace, subject=subject, subject_id=takedown.thing_id, page=page, **detail
    )


def _tell_staff(report: Report, thing: PublicThing) -> None:
    address = settings.ABUSE_CONTACT
    if address.startswith("mailto:"):
        receivers = {address.removeprefix("mailto:").partition("?")[0]}
    else:
        receivers = mailed_addresses(User.objects.filter(is_staff=True))
    page = absolute(link_to("staff:accounts_report_change", report.pk))
    text = (
        # On one line: its author must not write lines of this mail.
        f"Somebody reported a public {thing.kind} on Loadsheet: {visible_line(thing.title)}\n\n"
        f"Page: {absolute(report.page)}\n\n"
        f"Reason: {Report.Reason(report.reason).label}\n\n"
        f"{_quoted(report.text)}"
        f"Staff read the report and decide here:\n\n{page}\n"
    )
    _send([EmailMessage(f"Report of a {thing.kind}", text, None, [each]) for each in receivers])


def _quoted(text: str) -> str:
    """What the sender wrote, each line behind “> ”; empty where nothing was written."""
    lines = "\n".join(f"> {line}" for line in text.splitlines())
    return f"Text of the report:\n\n{lines}\n\n" if lines else ""


def _tell_owners(takedown: Takedown, page: str) -> None:
    thing = _in_mails(takedown)
    _mail_owners(
        takedown,
        f"Taken down: {thing}",
        f"The operator of Loadsheet took down {thing}. "
        "Members of the workspace still read it; other people read only that it was taken down, "
        f"and why.\n\nPage: {absolute(page)}\n\nReason: {takedown.reason}\n\n"
        f"{how_to_object(takedown)}\n",
    )


def _in_mails(takedown: Takedown) -> str:
    """The workspace itself, or which kind of thing of it."""
    name = takedown.workspace.name
    is_whole = takedown.kind == Thing.WORKSPACE
    return f"the workspace {name}" if is_whole else f"a {takedown.kind} of {name}"


def _tell_owners_restored(takedown: Takedown) -> None:
    thing = _in_mails(takedown)
    _mail_owners(
        takedown,
        f"Restored: {thing}",
        f"The operator of Loadsheet restored {thing}. "
        "Everyone with whom it is shared reads it again.\n",
    )


def _mail_owners(takedown: Takedown, subject: str, text: str) -> None:
    workspace = takedown.workspace
    owners = User.objects.filter(memberships__workspace=workspace, memberships__role=Role.OWNER)
    addresses = mailed_addresses(owners)
    _send([WorkspaceMail(workspace.pk, subject, text, None, [each]) for each in addresses])


def _send(mails: list[EmailMessage]) -> None:
    """Without a mail server they are kept. One that does not answer stops nothing else."""
    try:
        for mail in mails:
            send(mail)
    except OSError:
        log.warning("takedown_mail_not_sent", exc_info=True)


class RunTakenDown(NotOpened):
    """The workspace has a run that staff took down."""

    def __init__(self, takedown: Takedown) -> None:
        super().__init__(
            f"The operator of this service took down the run {takedown.thing_id} of this "
            "workspace, which everyone who reads the workspace would read.",
            hint=f"Delete the run permanently, and try again. {how_to_object(takedown)}",
        )


def refuse_runs_taken_down(workspace: Workspace) -> None:
    """Raise RunTakenDown while a run of the workspace is taken down. One in the trash may come
    back, so it counts."""
    own = Run.with_trash.filter(workspace=workspace)
    active = Takedown.objects.active().filter(workspace=workspace, kind=Thing.RUN)
    takedown = active.filter(thing_id__in=own.values("pk")).first()
    if takedown is not None:
        raise RunTakenDown(takedown)
