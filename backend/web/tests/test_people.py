"""Making accounts and workspaces, inviting, leaving: through the pages."""

import io
import re

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client

from backend.accounts.models import (
    Act,
    AuditEvent,
    HeldMessage,
    Membership,
    Role,
    User,
    Workspace,
)
from backend.deliveries.models import Channel

pytestmark = pytest.mark.django_db
ACCOUNT = {"password1": "a long right password", "password2": "a long right password"}
MEMBERS = "/w/own-lab/members"


def printed(*arguments, **options):
    out = io.StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue().strip()


def text_of(response):
    return response.content.decode()


class TestFirstOwner:
    def path(self):
        return printed("first_owner_link").removeprefix("http://127.0.0.1:8000")

    def test_the_link_leads_to_an_account_and_a_workspace(self):
        client = Client()
        sign_up = client.get(self.path())["Location"]
        assert client.get(sign_up).status_code == 200
        made = client.post(sign_up, {"username": "ada", **ACCOUNT, "next": "/new-workspace"})
        assert made["Location"] == "/new-workspace"
        opened = client.post("/new-workspace", {"name": "Lab"}, follow=True)
        assert opened.redirect_chain[-1][0] == "/w/lab/"
        assert Membership.objects.get().role == Role.OWNER
        assert User.objects.get().is_staff

    def test_it_ends_with_the_first_account(self):
        path = self.path()
        User.objects.create_user(username="ada", password=None)
        assert Client().get(path).status_code == 410
        said = io.StringIO()
        # Programs read the link from the standard output.
        assert printed("first_owner_link", stderr=said) == ""
        assert "An account exists" in said.getvalue()
        assert "manage.py sign_in_link --user NAME" in said.getvalue()

    def test_an_open_form_ends_with_the_first_account_too(self):
        client = Client()
        sign_up = client.get(self.path())["Location"]
        User.objects.create_user(username="ada", password=None)
        client.post(sign_up, {"username": "eve", **ACCOUNT})
        assert not User.objects.filter(username="eve").exists()

    @pytest.mark.parametrize("token", ["nonsense", "a:b:c"])
    def test_an_invented_link_makes_nothing(self, token):
        assert Client().get(f"/first-owner/{token}").status_code == 410


class TestSignUp:
    def test_it_needs_an_invitation(self):
        client = Client()
        assert "An invitation is needed" in text_of(client.get("/accounts/signup/"))
        client.post("/accounts/signup/", {"username": "eve", **ACCOUNT})
        assert not User.objects.exists()

    def test_it_is_open_where_the_service_says_so(self, settings):
        settings.OPEN_SIGN_UP = True
        response = Client().post("/accounts/signup/", {"username": "eve", **ACCOUNT})
        assert response.status_code == 302
        assert not User.objects.get().is_staff

    def test_a_weak_password_is_refused(self, settings):
        settings.OPEN_SIGN_UP = True
        weak = {"password1": "short", "password2": "short"}
        response = Client().post("/accounts/signup/", {"username": "eve", **weak})
        assert "at least 12 characters" in text_of(response)


class TestInvitation:
    @pytest.fixture(autouse=True)
    def sends_mail(self, settings):
        settings.SENDS_MAIL = True

    def link(self, owner, **fields):
        page = text_of(owner.post(MEMBERS, {"role": "member", **fields}))
        address = re.search(r"http://127\.0\.0\.1:8000(/invitations/\S+?)<", page)
        assert address is not None
        return address[1]

    def test_a_guest_makes_an_account_and_joins(self, owner, scene):
        link, guest = self.link(owner), Client()
        assert "invites you" in text_of(guest.get(link))
        made = guest.post("/accounts/signup/", {"username": "eve", **ACCOUNT, "next": link})
        assert made["Location"] == link
        assert guest.get(link)["Location"] == "/w/own-lab/"
        assert guest.get("/w/own-lab/").status_code == 200
        assert "already used" in text_of(Client().get(link))

    def test_one_invitation_makes_one_account(self, owner):
        link, guests = self.link(owner), [Client(), Client()]
        for guest in guests:
            guest.get(link)
        for number, guest in enumerate(guests):
            guest.post("/accounts/signup/", {"username": f"eve-{number}", **ACCOUNT})
        assert User.objects.filter(username__startswith="eve").count() == 1

    def test_a_person_with_an_account_joins(self, owner, scene):
        link, guest = self.link(owner), Client()
        guest.force_login(scene.foreign.user)
        assert "invites you" in text_of(guest.get(link))
        assert guest.get(f"{link}/join")["Location"] == link
        assert guest.post(f"{link}/join")["Location"] == "/w/own-lab/"
        assert Membership.objects.get(user=scene.foreign.user, workspace=scene.own.workspace)

    def test_the_guest_must_sign_in_to_join(self, owner):
        response = Client().post(f"{self.link(owner)}/join")
        assert response["Location"].startswith("/accounts/login/")

    def test_the_link_is_mailed(self, owner):
        link = self.link(owner, email="eve@example.org")
        assert mail.outbox[0].to == ["eve@example.org"]
        assert link in mail.outbox[0].body

    def test_a_service_without_a_mail_server_asks_for_no_address(self, owner, settings):
        settings.SENDS_MAIL = False
        assert "Email address" not in text_of(owner.get(MEMBERS))
        self.link(owner, email="eve@example.org")
        assert mail.outbox == []

    def test_a_mail_that_was_not_sent_costs_no_link(self, owner, monkeypatch):
        def fail(*_):
            raise OSError("no mail server")

        monkeypatch.setattr("backend.accounts.workspace.invitation_mail.WorkspaceMail.send", fail)
        self.link(owner, email="eve@example.org")
        assert "We sent" not in text_of(owner.get(MEMBERS))

    def test_mails_are_limited(self, owner, monkeypatch):
        monkeypatch.setattr("backend.accounts.limits.limiters.INVITATIONS_PER_HOUR", 1)
        self.link(owner, email="eve@example.org")
        again = owner.post(MEMBERS, {"role": "member", "email": "eve@example.org"})
        assert again.status_code == 429

    def test_a_wrong_address_is_refused(self, owner):
        response = owner.post(MEMBERS, {"role": "member", "email": "nobody"})
        assert response.status_code == 400
        assert "expected name@example.org" in text_of(response)

    def test_a_revoked_link_ends(self, owner, scene):
        link = self.link(owner)
        form = re.search(r"/w/own-lab/invitations/\S+/revoke", text_of(owner.get(MEMBERS)))
        owner.post(form[0])
        refused = Client().get(link)
        assert refused.status_code == 410
        # The address has no query to leave out, so it is no place to start again from.
        assert "start again" not in text_of(refused)

    def test_a_viewer_invites_nobody(self, scene):
        viewer = Client()
        viewer.force_login(scene.viewer)
        assert viewer.post(MEMBERS, {"role": "viewer"}).status_code == 404
        assert "Invite a person" not in text_of(viewer.get(MEMBERS))


class TestMembers:
    def test_an_owner_changes_a_role_and_removes(self, owner, scene):
        base = f"{MEMBERS}/{scene.viewer.pk}"
        assert owner.post(f"{base}/role", {"role": "admin"})["Location"] == MEMBERS
        assert Membership.objects.get(user=scene.viewer).role == Role.ADMIN
        owner.post(f"{base}/remove")
        assert not Membership.objects.filter(user=scene.viewer).exists()

    def test_who_removes_reads_which_channels_go_on(self, owner, scene):
        for name, kind in (("hook", "webhook"), ("mail", "mail")):
            Channel.objects.create(
                workspace=scene.own.workspace, author=scene.viewer, name=name, kind=kind
            )
        text = text_of(owner.post(f"{MEMBERS}/{scene.viewer.pk}/remove", follow=True))
        assert f"Channels that {scene.viewer} added still get messages: hook." in text

    def test_the_only_owner_cannot_leave(self, owner, scene):
        response = owner.post(f"{MEMBERS}/{scene.own.user.pk}/remove")
        assert response.status_code == 409
        assert "Make another member an owner first." in text_of(response)

    def test_leaving_and_removing_ask_first(self, owner, scene):
        page = owner.get(MEMBERS).content.decode()
        questions = re.findall(r'<details class="menu-question">.*?</details>', page, re.DOTALL)
        assert [question.count("<form") for question in questions] == [1, 1]
        assert page.count("/remove") == len(questions)

    def test_a_viewer_leaves(self, scene):
        viewer = Client()
        viewer.force_login(scene.viewer)
        assert viewer.post(f"{MEMBERS}/{scene.viewer.pk}/remove")["Location"] == "/"
        assert viewer.get("/w/own-lab/").status_code == 404


class TestRenaming:
    def test_former_links_lead_on(self, owner, scene):
        owner.post("/w/own-lab/rename", {"name": "Bench lab", "slug": "bench"})
        assert Workspace.objects.get(pk=scene.own.workspace.pk).name == "Bench lab"
        response = owner.get("/w/own-lab/compare?metric=p99")
        assert response["Location"] == "/w/bench/compare?metric=p99"
        assert owner.get("/api/v1/runs?workspace=own-lab").json()["runs"]
        everything = owner.get("/w/own-lab/compare?workspace=own-lab", follow=True)
        assert everything.redirect_chain == [("/w/bench/compare?workspace=own-lab", 302)]
        assert everything.status_code == 200
        assert owner.get("/w/bench/compare?workspace=foreign-lab").status_code == 400
        assert owner.get("/api/v1/compare?workspace=own-lab").status_code == 200

    def test_a_stranger_learns_nothing_of_a_former_address(self, owner, scene):
        owner.post("/w/own-lab/rename", {"name": "Bench lab", "slug": "bench"})
        client = Client()
        client.force_login(scene.foreign.user)
        assert client.get("/w/own-lab/").status_code == 404

    def test_nul_in_a_name_is_no_failure(self, owner):
        owner.post("/w/own-lab/rename", {"name": "Bench\0lab", "slug": "own-lab"})
        assert Workspace.objects.get(slug="own-lab").name == "Bench lab"

    def test_a_taken_address_is_refused(self, owner):
        response = owner.post("/w/own-lab/rename", {"name": "Lab", "slug": "foreign-lab"})
        assert response.status_code == 400
        assert "is taken" in text_of(response)


class TestUnsentMails:
    @pytest.fixture
    def kept(self, settings, scene):
        settings.EMAIL_BACKEND = "backend.accounts.mail.held_mail.EmailBackend"
        scene.viewer.email = "eve@example.org"
        scene.viewer.save()
        Client().post("/accounts/password/reset/", {"email": "eve@example.org"})

    def test_the_operator_reads_them(self, kept, scene):
        operator = Client()
        operator.force_login(User.objects.create_user(username="op", is_staff=True))
        assert "To eve@example.org" in text_of(operator.get("/messages"))
        assert HeldMessage.objects.count() == 1
        event = AuditEvent.objects.get(act=Act.STAFF_MESSAGES)
        assert (event.actor_name, event.detail) == ("op", {"messages": 1})
        assert Act.STAFF_MESSAGES in text_of(operator.get("/staff/accounts/auditevent/"))

    def test_nobody_else_does(self, kept, owner):
        assert owner.get("/messages").status_code == 404


def test_pages_of_the_account_open(owner):
    for path in ("email/", "password/change/", "2fa/", "sessions/"):
        response = owner.get(f"/accounts/{path}", follow=True)
        assert response.status_code == 200, path
        assert "Loadsheet" in text_of(response)


def test_an_authenticator_app_can_be_added(owner):
    owner.post("/accounts/reauthenticate/", {"password": "unused"})
    assert "cannot activate" not in text_of(owner.get("/accounts/2fa/totp/activate/", follow=True))


def test_a_secret_of_a_second_factor_is_stored_encrypted():
    from backend.accounts.sign_in.adapter import SecondFactorAdapter

    stored = SecondFactorAdapter().encrypt("JBSWY3DPEHPK3PXP")
    assert "JBSWY3DPEHPK3PXP" not in stored
    assert SecondFactorAdapter().decrypt(stored) == "JBSWY3DPEHPK3PXP"
