"""Reports of what is public, and takedowns, on the pages of the staff."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html

from backend.accounts.models import User
from backend.accounts.takedown_models import Report, Takedown
from backend.errors import Conflict
from backend.sharing.takedowns import close, restore, take_down
from backend.web.staff_rows import ReadOnly

LEAVE, TAKE_DOWN = "leave", "take down"


class DecisionForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """What becomes of a report."""

    decision = forms.ChoiceField(
        choices=[
            ("", "Decide later"),
            (LEAVE, "Leave it public and close the report"),
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
        return fields


class Reports(ReadOnly):
    """What people reported. The page of a report decides it; nothing of the report changes."""

    list_display = ("at", "kind", "workspace", "reason", "closed_at", "takedown")
    readonly_fields = (
        *("at", "kind", "workspace", "reported_page", "reason", "text", "email"),
        *("closed_at", "closed_by", "takedown"),
    )
    fieldsets = (
        (None, {"fields": readonly_fields}),
        ("Decision", {"fields": ("decision", "public_reason", "is_legal")}),
    )
    form = DecisionForm

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return obj is None or obj.closed_at is None

    def get_fieldsets(self, request: HttpRequest, obj: Report | None = None) -> Any:
        """Without the decision where it was made."""
        is_open = obj is not None and obj.closed_at is None
        return self.fieldsets if is_open else self.fieldsets[:1]

    def reported_page(self, report: Report) -> str:
        """A link to the page, which staff read as everybody does."""
        return format_html('<a href="{}">{}</a>', report.page, report.page)

    def log_change(self, request: HttpRequest, obj: Report, message: Any) -> Any:
        """Nothing: the audit log has the event. Django's own would outlive the workspace."""

    def save_model(self, request: HttpRequest, obj: Report, form: Any, change: bool) -> None:
        """Carry out the decision."""
        assert isinstance(request.user, User)
        decision = form.cleaned_data["decision"]
        if decision == LEAVE:
            close(obj, by=request.user)
        elif decision == TAKE_DOWN:
            reason, is_legal = form.cleaned_data["public_reason"], form.cleaned_data["is_legal"]
            try:
                take_down(obj, reason=reason, is_legal=is_legal, by=request.user)
            except Conflict as refused:
                messages.error(request, str(refused))


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

    list_display = ("at", "kind", "workspace", "reason", "by", "lifted_at")
    readonly_fields = (
        *("id", "at", "kind", "workspace", "reason", "is_legal", "by"),
        *("lifted_at", "lifted_by"),
    )
    fieldsets = (
        (None, {"fields": readonly_fields}),
        ("Decision", {"fields": ("is_lifted",)}),
    )
    form = RestoreForm

    def has_change_permission(self, request: HttpRequest, obj: Takedown | None = None) -> bool:
        return obj is None or obj.lifted_at is None

    def get_fieldsets(self, request: HttpRequest, obj: Takedown | None = None) -> Any:
        """Without the decision where it was made."""
        is_active = obj is not None and obj.lifted_at is None
        return self.fieldsets if is_active else self.fieldsets[:1]

    def log_change(self, request: HttpRequest, obj: Takedown, message: Any) -> Any:
        """Nothing: the audit log has the event. Django's own would outlive the workspace."""

    def save_model(self, request: HttpRequest, obj: Takedown, form: Any, change: bool) -> None:
        """Restore what was taken down, if the form says so."""
        assert isinstance(request.user, User)
        if form.cleaned_data["is_lifted"]:
            restore(obj, by=request.user)
