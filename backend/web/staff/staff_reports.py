"""Reports of what is public, and takedowns, on the pages of the staff."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join

from backend.accounts.models import User
from backend.accounts.takedown_models import Report, Takedown, Thing
from backend.errors import Conflict
from backend.links import link_to
from backend.runs.catalogue.naming import count_text
from backend.sharing.takedowns import (
    close,
    page_of,
    restore,
    same_reports,
    take_down,
    title_of,
    with_titles,
)
from backend.web.staff.staff_rows import ReadOnly, column, time_column

LEAVE, TAKE_DOWN = "leave", "take down"
MOST_LISTED = 20


class DecisionForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """What becomes of a report, and of the other open reports of the same thing."""

    decision = forms.ChoiceField(
        choices=[
            ("", "Decide later"),
            (LEAVE, "Leave it public and close its reports"),
            (TAKE_DOWN, "Take it down and close its reports"),
        ],
        required=False,
    )
    public_reason = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Needed to take it down. Its readers and the members of the workspace see it.",
    )
    is_legal = forms.BooleanField(
        label="For legal reasons",
        required=False,
        help_text="Readers get the status 451 instead of 410.",
    )

    class Meta:
        model = Report
        fields: tuple[str, ...] = ()

    def clean(self) -> dict[str, Any]:
        """The fields; a takedown has a reason."""
        fields: dict[str, Any] = super().clean() or {}
        if fields.get("decision") == TAKE_DOWN and not fields.get("public_reason", "").strip():
            self.add_error("public_reason", "Write the reason that readers and members see.")
            self.fields["public_reason"].widget.attrs["autofocus"] = True
        return fields


class _State(admin.SimpleListFilter):
    """Which rows a list shows: those that wait for the staff, or the others."""

    title = "state"
    parameter_name = "state"
    # The names of both states, and the column that is empty in the first.
    names = ("", "")
    ended = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name.capitalize()) for name in self.names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows of the chosen state, or all."""
        if self.value() not in self.names:
            return queryset
        return queryset.filter(**{f"{self.ended}__isnull": self.value() == self.names[0]})


class ReportState(_State):
    names = ("open", "closed")
    ended = "closed_at"


class TakedownState(_State):
    names = ("in force", "restored")
    ended = "lifted_at"


def _title(row: Any) -> str:
    return row.title or f"{row.kind} {str(row.thing_id)[:8]}"


def _decision(report: Report) -> str:
    if report.closed_at is None:
        return "open"
    return "left public" if report.takedown_id is None else "taken down"


def _page_link(path: str) -> str:
    return format_html('<a href="{}">{}</a>', path, path)


_WORKSPACE = column("Workspace", lambda row: row.workspace.name, order="workspace__name")
_TITLE = column("Title", _title, order="title")
_KIND = column("What", lambda row: row.kind, order="kind")
_DECISION = column("Decision", _decision, order="takedown")
_REPORTED = time_column("Reported", "at")
_CLOSED = time_column("Closed", "closed_at")
_TAKEN_DOWN = time_column("Taken down", "at")
_RESTORED = time_column("Restored", "lifted_at")
_RESTORED_BY = column("Restored by", lambda row: str(row.lifted_by or ""), order="lifted_by")
_PAGE = column("Page", lambda report: _page_link(report.page), order="page")
_THING_PAGE = column(
    "Page",
    lambda row: _page_link(page_of(Thing(row.kind), row.thing_id, row.workspace)),
    order="thing_id",
)


def _others_text(report: Report) -> str:
    """When, why and with which text others reported it, the newest first."""
    others = same_reports(report).exclude(pk=report.pk)
    if not (count := others.count()):
        return "None"
    lines = format_html_join(
        "",
        '<li>{} UTC: {}. {} <a href="{}">Open</a></li>',
        (
            (
                f"{each.at:%Y-%m-%d %H:%M}",
                each.get_reason_display(),
                each.text[:200],
                link_to("staff:accounts_report_change", each.pk),
            )
            for each in others[:MOST_LISTED]
        ),
    )
    more = f"and {count - MOST_LISTED} more" if count > MOST_LISTED else ""
    return format_html("<ul>{}</ul>{}", lines, more)


_OTHERS = column("Other open reports of it", _others_text, order="thing_id")


class Reports(ReadOnly):
    """What people reported. The page of a report decides it; nothing of the report changes."""

    list_title, row_title = "Reports", "Report"
    list_display = (_REPORTED, _KIND, _TITLE, _WORKSPACE, "reason", _DECISION, _CLOSED)
    list_filter = (ReportState,)
    readonly_fields = (
        *(_REPORTED, _KIND, _TITLE, _WORKSPACE, _PAGE, "reason", "text", "email"),
        *(_DECISION, _CLOSED, "closed_by", "takedown"),
    )
    fieldsets = (
        (None, {"fields": readonly_fields}),
        ("Decision", {"fields": (_OTHERS, "decision", "public_reason", "is_legal")}),
    )
    form = DecisionForm

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        """With the title of what was reported."""
        return with_titles(super().get_queryset(request))

    def get_readonly_fields(self, request: HttpRequest, obj: Report | None = None) -> Any:
        """Those of the report, and the list beside the decision."""
        return (*self.readonly_fields, _OTHERS)

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return obj is None or obj.closed_at is None

    def get_fieldsets(self, request: HttpRequest, obj: Report | None = None) -> Any:
        """Without the decision where it was made."""
        is_open = obj is not None and obj.closed_at is None
        return self.fieldsets if is_open else self.fieldsets[:1]

    def log_change(self, request: HttpRequest, obj: Report, message: Any) -> Any:
        """Nothing: the audit log has the event. Django's own would outlive the workspace."""

    def save_model(self, request: HttpRequest, obj: Report, form: Any, change: bool) -> None:
        """Carry out the decision, and say what it did."""
        assert isinstance(request.user, User)
        decision = form.cleaned_data["decision"]
        thing = title_of(Thing(obj.kind), obj.thing_id, obj.workspace)
        if decision == LEAVE:
            closed = close(obj, by=request.user)
            messages.info(request, f"Left public: {thing}. {_closed_text(closed)}")
        elif decision == TAKE_DOWN:
            reason, is_legal = form.cleaned_data["public_reason"], form.cleaned_data["is_legal"]
            try:
                takedown = take_down(obj, reason=reason, is_legal=is_legal, by=request.user)
            except Conflict as refused:
                messages.error(request, str(refused))
            else:
                messages.info(request, _taken_down_text(takedown, thing))
        else:
            messages.info(request, "Nothing was changed. The report is still open.")

    def response_change(self, request: HttpRequest, obj: Report) -> HttpResponse:
        """The list again: `save_model` said what happened."""
        return self.response_post_save_change(request, obj)


def _closed_text(closed: int) -> str:
    return f"{count_text(closed, 'report')} {'is' if closed == 1 else 'are'} closed."


def _taken_down_text(takedown: Takedown, thing: str) -> str:
    return format_html(
        'Taken down: {}. {} <a href="{}">Open the takedown</a>',
        thing,
        _closed_text(takedown.reports.count()),
        link_to("staff:accounts_takedown_change", takedown.pk),
    )


class RestoreForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """Whether a takedown ends."""

    is_lifted = forms.BooleanField(
        label="Restore it",
        required=False,
        help_text="Everyone with whom its workspace shares it reads it again.",
    )

    class Meta:
        model = Takedown
        fields: tuple[str, ...] = ()


class Takedowns(ReadOnly):
    """What staff took down. Its page restores it."""

    list_title, row_title = "Takedowns", "Takedown"
    list_display = (_TAKEN_DOWN, _KIND, _TITLE, _WORKSPACE, "reason", "by", _RESTORED)
    list_filter = (TakedownState,)
    list_select_related = ("by",)
    readonly_fields = (
        *("id", _TAKEN_DOWN, _KIND, _TITLE, _WORKSPACE, _THING_PAGE, "reason", "is_legal", "by"),
        *(_RESTORED, _RESTORED_BY),
    )
    fieldsets = (
        (None, {"fields": readonly_fields}),
        ("Decision", {"fields": ("is_lifted",)}),
    )
    form = RestoreForm

    def get_queryset(self, request: HttpRequest) -> QuerySet[Takedown]:
        """With the title of what was taken down."""
        return with_titles(super().get_queryset(request))

    def has_change_permission(self, request: HttpRequest, obj: Takedown | None = None) -> bool:
        return obj is None or obj.lifted_at is None

    def get_fieldsets(self, request: HttpRequest, obj: Takedown | None = None) -> Any:
        """Without the decision where it was made."""
        is_active = obj is not None and obj.lifted_at is None
        return self.fieldsets if is_active else self.fieldsets[:1]

    def log_change(self, request: HttpRequest, obj: Takedown, message: Any) -> Any:
        """Nothing: the audit log has the event. Django's own would outlive the workspace."""

    def save_model(self, request: HttpRequest, obj: Takedown, form: Any, change: bool) -> None:
        """Restore what was taken down, if the form says so, and say what happened."""
        assert isinstance(request.user, User)
        if not form.cleaned_data["is_lifted"]:
            messages.info(request, "Nothing was changed. The takedown is still in force.")
            return
        restore(obj, by=request.user)
        thing = title_of(Thing(obj.kind), obj.thing_id, obj.workspace)
        messages.info(request, f"Restored: {thing}.")

    def response_change(self, request: HttpRequest, obj: Takedown) -> HttpResponse:
        """The list again: `save_model` said what happened."""
        return self.response_post_save_change(request, obj)
