"""Limits of a workspace: shown before they are reached, and named when they are."""

import io
import re
import uuid
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Act, AuditEvent, Invitation, Membership, Role, User
from backend.accounts.workspace import invitations
from backend.accounts.workspace.quotas import MembersFull, limits_of, set_limits
from backend.ingest.models import StoredBytes, Upload
from backend.ingest.queue.worker import process
from backend.ingest.quota import quota
from backend.ingest.quota.quota import RoomChanged
from backend.ingest.quota.stored_sums import sums_of
from backend.ingest.quota.usage import near_limits, usage_of
from backend.ingest.receiving.receive import receive
from backend.ingest.removing.removal import remove_run
from backend.runs.models import Run
from backend.testing.uploads import WRK, claim_next, make_file, make_tenant, make_upload

pytestmark = pytest.mark.django_db
UPLOADS = "/api/v1/uploads"
USAGE = "/api/v1/workspaces/lab/usage"


@pytest.fixture
def tenant():
    return make_tenant()


def post(tenant):
    return Client().post(UPLOADS, {"file": make_file()}, headers=tenant.headers)


def sent_today(tenant):
    return sums_of(tenant.workspace.pk).uploads


def test_the_upload_after_the_last_of_the_day_is_told_when_to_come_again(tenant, settings):
    settings.UPLOADS_PER_DAY = 2
    assert [post(tenant).status_code for _ in range(2)] == [202, 202]

    refused = post(tenant)

    assert refused.status_code == 429
    problem = refused.json()
    assert "used up its uploads of today: 2 of 2" in problem["detail"]
    assert "UPLOADS_PER_DAY" in problem["hint"]
    assert 1 <= int(refused["Retry-After"]) <= 24 * 3600
    assert Upload.objects.count() == 2
    assert post(make_tenant("other")).status_code == 202


def test_the_count_begins_anew_with_the_next_day(tenant, settings):
    settings.UPLOADS_PER_DAY = 1
    assert post(tenant).status_code == 202
    assert post(tenant).status_code == 429
    yesterday = timezone.now().date() - timedelta(days=1)
    StoredBytes.objects.update(day=yesterday)

    assert sent_today(tenant) == 0
    assert post(tenant).status_code == 202
    assert sent_today(tenant) == 1


def test_what_is_deleted_was_sent_all_the_same(tenant):
    upload = make_upload(tenant, WRK)
    process(upload.pk)
    remove_run(Run.objects.get(upload=upload.pk))

    sums = sums_of(tenant.workspace.pk)
    assert (sums.size_bytes, sums.uploads) == (0, 1)


def test_uploads_that_are_sent_again_count_once(tenant):
    envelope = {"schema": 1, "id": str(uuid.uuid4())}
    for _ in range(3):
        receive(tenant.sender, [make_file()], raw_envelope=envelope)

    assert sent_today(tenant) == 1


def test_an_upload_that_found_no_room_until_now_is_to_be_sent_again(tenant, settings, monkeypatch):
    """Answered 409, an agent would take the upload for one that is stored."""
    settings.UPLOADS_PER_DAY = 0
    explain = quota.explain_refusal

    def explain_after_midnight(*given):
        settings.UPLOADS_PER_DAY = 1
        explain(*given)

    monkeypatch.setattr("backend.ingest.receiving.receive.explain_refusal", explain_after_midnight)
    with pytest.raises(RoomChanged):
        make_upload(tenant)
    settings.UPLOADS_PER_DAY = 0
    answer = post(tenant)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")


def test_a_limit_of_one_workspace_holds_for_it_alone(tenant, settings):
    other = make_tenant("other")
    set_limits(tenant.workspace, {"uploads_per_day": 0, "stored_bytes": 7})

    assert post(tenant).status_code == 507
    set_limits(tenant.workspace, {"stored_bytes": None})
    assert post(tenant).status_code == 429
    assert post(other).status_code == 202
    assert limits_of(tenant.workspace.pk).stored_bytes == settings.WORKSPACE_MAX_BYTES


def test_a_workspace_may_have_more_or_fewer_reads_than_others(tenant, settings):
    settings.READS_PER_WORKSPACE = 1
    set_limits(tenant.workspace, {"reads": 2})
    for _ in range(4):
        make_upload(tenant)

    claims = [claim_next() for _ in range(3)]

    assert [held is not None for held in claims] == [True, True, False]
    (reads,) = [row for row in usage_of(tenant.workspace.pk) if row.id == "reads"]
    assert (reads.used, reads.limit, reads.state) == (2, 2, "full")


def test_invitations_end_where_the_members_would_be_too_many(tenant):
    set_limits(tenant.workspace, {"members": 2})
    clear = invitations.invite(tenant.user, tenant.workspace, Role.VIEWER)
    with pytest.raises(MembersFull, match="Members: 1, open invitations: 1, limit: 2"):
        invitations.invite(tenant.user, tenant.workspace, Role.VIEWER)

    set_limits(tenant.workspace, {"members": 1})
    user = User.objects.create_user("late")
    with pytest.raises(MembersFull, match="Members: 1, open invitations: 0, limit: 1"):
        invitations.accept(clear, user)
    assert Membership.objects.count() == 1

    set_limits(tenant.workspace, {"members": None})
    invitations.accept(clear, user)
    assert Membership.objects.count() == 2


def test_the_usage_counts_the_invitations_that_fill_the_limit(client, tenant):
    """Five places showed "1 of 5" while nobody could be invited."""
    set_limits(tenant.workspace, {"members": 5})
    for _ in range(4):
        invitations.invite(tenant.user, tenant.workspace, Role.VIEWER)

    (members,) = [row for row in usage_of(tenant.workspace.pk) if row.id == "members"]
    assert (members.used, members.state) == (5, "full")
    assert [(row.id, row.used) for row in near_limits()] == [("members", 5)]
    client.force_login(tenant.user)
    assert client.get(USAGE).json()["usage"][2]["used"] == 5
    page = " ".join(re.sub("<[^>]+>", " ", client.get("/w/lab/settings").content.decode()).split())
    assert "Members and open invitations 5 of 5" in page

    ended = [{"used_at": timezone.now()}, {"revoked_at": timezone.now()}]
    ended.append({"expires_at": timezone.now()})
    for invitation, fields in zip(Invitation.objects.all()[:3], ended, strict=True):
        Invitation.objects.filter(pk=invitation.pk).update(**fields)
    (members,) = [row for row in usage_of(tenant.workspace.pk) if row.id == "members"]
    assert (members.used, near_limits()) == (2, [])


def test_the_page_of_members_says_what_to_do(client, tenant):
    set_limits(tenant.workspace, {"members": 1})
    client.force_login(tenant.user)

    page = client.post("/w/lab/members", {"role": "viewer"})

    assert page.status_code == 400
    text = page.content.decode()
    assert "Lab has no room for another member. Members: 1, open invitations: 0, limit: 1." in text
    assert "revoke invitations" in text


def test_members_see_the_usage_before_a_limit_is_reached(client, tenant):
    set_limits(tenant.workspace, {"uploads_per_day": 5})
    for _ in range(4):
        post(tenant)
    client.force_login(tenant.user)

    answer = client.get(USAGE).json()
    page = client.get("/w/lab/settings").content.decode()

    assert answer["workspace"] == "lab"
    uploads, stored, members, reads = answer["usage"]
    assert (uploads["used"], uploads["limit"], uploads["state"]) == (4, 5, "warning")
    assert uploads["resets_at"].endswith("T00:00:00Z")
    assert (stored["used"], stored["state"], stored["resets_at"]) == (4 * len(WRK), "ok", None)
    assert (members["used"], members["limit"]) == (1, 1000)
    assert reads["used"] == 0
    assert "4 of 5" in " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "(80 %)" in page
    assert "Nearly full" in page
    post(tenant)
    assert "Limit reached" in client.get("/w/lab/settings").content.decode()


def run_quota(*arguments):
    out = io.StringIO()
    call_command("quota", *arguments, stdout=out)
    return out.getvalue()


def test_the_operator_sets_limits_by_command_and_the_audit_log_tells(tenant):
    text = run_quota("lab", "--uploads-per-day", "9", "--members", "0")
    assert "Uploads today: 0 of 9 uploads." in text
    assert "Members and open invitations: 1 of 0 members." in text

    assert "Members and open invitations: 1 of 1000 members." in run_quota(
        "lab", "--members", "default"
    )
    assert "Uploads today: 0 of 9 uploads." in run_quota("lab")
    first, second = AuditEvent.objects.filter(act=Act.WORKSPACE_QUOTA).order_by("at")
    assert first.detail["uploads_per_day"] == {"was": 1_000_000, "is": 9}
    assert second.detail == {"members": {"was": 0, "is": 1000}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "no workspace 'nowhere'"),
        (("lab", "--members", "many"), "--members is 'many'"),
        (("lab", "--stored-bytes", "-1"), "--stored-bytes is '-1'"),
        (("lab", "--reads", "9" * 19), "at most 18 digits"),
    ],
)
def test_a_wrong_limit_changes_nothing(tenant, arguments, words):
    before = limits_of(tenant.workspace.pk)
    with pytest.raises(CommandError, match=words):
        run_quota(*arguments)
    assert limits_of(tenant.workspace.pk) == before


def test_the_operator_sees_who_is_near_a_limit(client, tenant):
    make_tenant("other")
    set_limits(tenant.workspace, {"uploads_per_day": 5, "members": 1})
    for _ in range(4):
        post(tenant)

    near = [(row.slug, row.id, row.used, row.limit, row.is_reached) for row in near_limits()]
    assert near == [("lab", "members", 1, 1, True), ("lab", "uploads_per_day", 4, 5, False)]

    User.objects.filter(pk=tenant.user.pk).update(is_staff=True)
    client.force_login(tenant.user)
    page = " ".join(client.get("/operator").content.decode().split())
    assert "Workspaces near a limit" in page
    assert '<td>Uploads today</td> <td class="number">4</td> <td class="number">5</td>' in page
    lines = client.get("/metrics", HTTP_HOST="127.0.0.1").content.decode().splitlines()
    assert 'loadsheet_workspaces_near_limit{limit="members",state="reached"} 1.0' in lines
    assert 'loadsheet_workspaces_near_limit{limit="uploads_per_day",state="near"} 1.0' in lines
    assert 'loadsheet_workspaces_near_limit{limit="stored_bytes",state="near"} 0.0' in lines
