"""The pages of the staff, under /staff/: accounts, workspaces without content, access, reports.

Staff see no runs here. To read a workspace they open it, with a reason, for an hour; its owners see
that in the audit log.
"""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from backend.accounts.audit import change, record
from backend.accounts.models import Act, AuditEvent, StaffAccess, User, Workspace
from backend.accounts.takedown_models import Report, Takedown
from backend.links import link_to
from backend.web.staff.staff_reports import Reports, Takedowns
from backend.web.staff.staff_rows import ReadOnly, time_column

OPENED_FOR = timedelta(hours=1)
LEAST_REASON = 10


class StaffSite(AdminSite):
    """Django's admin for `is_staff`; everyone else gets 404. Signing in is that of all pages."""

    site_header = site_title = "Loadsheet staff"
    index_title = "Reports, accounts and workspaces"
    enable_nav_sidebar = False

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """The view for staff only."""
        guarded = super().admin_view(view, cacheable)

        def staff_only(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            _require_staff(request)
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path(), link_to("account_login"))
            return guarded(request, *args, **kwargs)

        return staff_only

    def login(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The sign-in page of the service, with its limits and second factors."""
        _require_staff(request)
        return redirect_to_login(link_to("staff:index"), link_to("account_login"))


def _require_staff(request: HttpRequest) -> None:
    """Raise Http404 for a person who is signed in and not of the staff."""
    user = request.user
    if user.is_authenticated and not (user.is_active and user.is_staff):
        raise Http404


class Accounts(ReadOnly):
    """Accounts. Staff may close one and open it again; nothing else of it changes."""

    list_title, row_title = "Accounts", "Account"
    list_display = (
        *("username", "email", "is_active", "is_staff"),
        *(time_column("Joined", "date_joined"), time_column("Last sign-in", "last_login")),
    )
    search_fields = ("username", "email")
    fields = list_display
    readonly_fields = tuple(name for name in list_display if name != "is_active")
    actions = None

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or obj.pk != request.user.pk

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Store it, with an event that no workspace shows."""
        # The account was read without a lock: only what the form changed is stored.
        if "is_active" in form.changed_data:
            obj.save(update_fields=["is_active"])
            _record_account(obj)


def _record_account(account: User) -> None:
    is_active = change(not account.is_active, account.is_active)
    record(Act.STAFF_ACCOUNT, None, subject=account, subject_id=account.pk, is_active=is_active)


class Workspaces(ReadOnly):
    """Workspaces, without what is in them."""

    list_title, row_title = "Workspaces", "Workspace"
    list_display = (
        *("slug", "name", time_column("Created", "created_at"), "is_public"),
        time_column("Deleted", "deleted_at"),
    )
    search_fields = ("slug", "name")
    fields = readonly_fields = list_display


class AccessForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """Which workspace, and why."""

    reason = forms.CharField(
        min_length=LEAST_REASON,
        max_length=500,
        help_text="The owners of the workspace read it in their audit log.",
    )

    class Meta:
        model = StaffAccess
        fields = ("workspace", "reason")


class Accesses(ReadOnly):
    """Opening a workspace to read it. Nobody closes or deletes the record of it."""

    list_title, row_title = "Openings of workspaces", "Opening of a workspace"
    list_display = (
        *("user", "workspace", "reason"),
        *(time_column("Opened", "opened_at"), time_column("Ends", "expires_at")),
    )
    form = AccessForm
    autocomplete_fields = ("workspace",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def add_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The form. Raises BadRequest for a broken id, which the refused form would look up."""
        if given := request.POST.get("workspace"):
            try:
                Workspace._meta.get_field("id").to_python(given)
            except ValidationError as error:
                raise BadRequest("The id of the workspace is no UUID.") from error
        return super().add_view(request, *args, **options)

    def log_addition(self, request: HttpRequest, obj: StaffAccess, message: Any) -> Any:
        """Nothing: the audit log has the event. Django's own would outlive the workspace."""

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: StaffAccess, form: Any, change: bool) -> None:
        """Store it for an hour, with an event for the owners of the workspace."""
        assert isinstance(request.user, User)
        obj.user = request.user
        obj.expires_at = timezone.now() + OPENED_FOR
        super().save_model(request, obj, form, change)
        record(
            Act.STAFF_ACCESS,
            obj.workspace,
            subject=obj.user,
            subject_id=obj.pk,
            reason=obj.reason,
            until=f"{obj.expires_at:%Y-%m-%d %H:%M} UTC",
        )


class Events(ReadOnly):
    """What staff did, which workspaces were deleted and which accounts erased. Other events are for
    the owners.
    """

    list_title, row_title = "Audit log of the staff", "Event"
    list_display = (time_column("At", "at"), "act", "actor_name", "workspace_id", "subject")
    shown = (
        *(Act.STAFF_ACCESS, Act.STAFF_ACCOUNT, Act.STAFF_MESSAGES, Act.STAFF_TAKEDOWN),
        *(Act.STAFF_RESTORED, Act.WORKSPACE_DELETED, Act.ACCOUNT_ERASED),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        """The events of the acts above."""
        return super().get_queryset(request).filter(act__in=self.shown)


staff_site = StaffSite(name="staff")
staff_site.register(User, Accounts)
staff_site.register(Workspace, Workspaces)
staff_site.register(StaffAccess, Accesses)
staff_site.register(AuditEvent, Events)
staff_site.register(Report, Reports)
staff_site.register(Takedown, Takedowns)
