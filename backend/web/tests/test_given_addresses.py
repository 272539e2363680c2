"""Every place where somebody gives an email address: one to which no mail can be sent is refused,
and those that were stored before cost no answer.
"""

import io
from smtplib import SMTPRecipientsRefused

import pytest
from allauth.account.models import EmailAddress
from django.core.mail.backends import locmem
from django.core.management import CommandError, call_command
from django.test import Client

from backend.accounts.models import Invitation, User
from backend.accounts.sign_in import leaks
from backend.accounts.takedown_models import Report
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.deliveries.channels import BadChannel, add_channel, send_test
from backend.deliveries.models import Channel, Delivery
from backend.sharing import takedowns
from backend.testing.worked_off import send_due
from backend.web.tests.takedown_steps import make_things

pytestmark = pytest.mark.django_db

PASSWORD = "a long right password"
SIGN_UP, RESET, EMAILS = "/accounts/signup/", "/accounts/password/reset/", "/accounts/email/"
BAD = {
    "IDNA leaves a label empty": "x@a.\u200d.org",
    "a separator of lines": "a@example.org\u2028x",
    "it becomes another at": "x@a\uff20evil.org",
    "it is longer than its column": f"{'x' * 200}@{'a' * 60}.org",
}
WORDS = "expected name@example.org"
OLD = BAD["IDNA leaves a label empty"]

each_bad = pytest.mark.parametrize("address", BAD.values(), ids=BAD)


@pytest.fixture
def mails(settings, mailoutbox):
    """A service that anybody may sign up to, and that sends mails."""
    settings.SENDS_MAIL = settings.OPEN_SIGN_UP = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    return mailoutbox


def signed_up(username, address, client=None):
    form = {"username": username, "email": address, "password1": PASSWORD, "password2": PASSWORD}
    return (client or Client()).post(SIGN_UP, form)


def give_old_address(user):
    """As sign-up stored it before."""
    User.objects.filter(pk=user.pk).update(email=OLD)
    user.refresh_from_db()
    return EmailAddress.objects.create(user=user, email=OLD, primary=True)


def undeliverable(caplog):
    return [line for line in caplog.records if line.getMessage() == "mail_undeliverable"]


class TestRefused:
    @each_bad
    def test_by_the_form_for_a_new_password(self, mails, address):
        answer = Client().post(RESET, {"email": address})

        assert (answer.status_code, WORDS in answer.text) == (200, True)
        assert mails == []

    @each_bad
    def test_by_sign_up_which_stores_no_account(self, mails, address):
        answer = signed_up("eve", address)

        assert (answer.status_code, WORDS in answer.text) == (200, True)
        assert not User.objects.exists()
        assert not EmailAddress.objects.exists()

    @each_bad
    def test_by_the_page_of_addresses(self, mails, owner, address):
        answer = owner.post(EMAILS, {"email": address, "action_add": ""})

        assert (answer.status_code, WORDS in answer.text) == (200, True)
        assert not EmailAddress.objects.filter(email__contains="@a").exists()

    @each_bad
    def test_by_invitations_of_the_page(self, mails, owner, address):
        answer = owner.post("/w/own-lab/members", {"role": "viewer", "email": address})

        assert (answer.status_code, WORDS in answer.text) == (400, True)
        assert not Invitation.objects.exists()

    @each_bad
    def test_by_invitations_of_the_api(self, mails, owner, address):
        answer = owner.post(
            "/api/v1/invitations",
            {"role": "viewer", "email": address, "workspace": "own-lab"},
            content_type="application/json",
        )

        assert answer.status_code == 400
        assert "254 characters" in answer.text or WORDS in answer.json()["detail"]
        assert not Invitation.objects.exists()

    @each_bad
    def test_by_the_form_of_a_report(self, scene, address):
        form = {"page": f"/s/{make_things(scene)['shared']}", "reason": "spam", "email": address}
        answer = Client().post("/report", form)

        assert (answer.status_code, WORDS in answer.text) == (400, True)
        assert not Report.objects.exists()

    def test_by_channels_also_as_the_address_of_a_member(self, scene):
        give_old_address(scene.own.user)

        with pytest.raises(BadChannel, match="expected the email address of a member"):
            add_channel(
                scene.own.workspace, author=scene.own.user, kind="mail", name="a", address=OLD
            )

    @each_bad
    def test_by_the_command_that_makes_an_account_of_staff(self, address, monkeypatch):
        monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)

        with pytest.raises(CommandError, match=WORDS):
            call_command("createsuperuser", "--noinput", username="op", email=address)
        assert not User.objects.exists()


class Refusing(locmem.EmailBackend):
    """A mail server that knows no such mailbox, or that is away."""

    error: OSError = ConnectionRefusedError(111, "Connection refused")

    def send_messages(self, _):
        raise self.error


@pytest.mark.parametrize(
    "error", [Refusing.error, SMTPRecipientsRefused({"a@example.org": (550, b"no such mailbox")})]
)
def test_a_mail_that_is_not_taken_says_so(mails, settings, monkeypatch, caplog, error):
    settings.EMAIL_BACKEND = f"{__name__}.Refusing"
    monkeypatch.setattr(Refusing, "error", error)

    client, address = Client(raise_request_exception=False), "a@example.org"
    answers = [signed_up("eve", address, client), client.post(RESET, {"email": address})]

    for answer in answers:
        assert (answer.status_code, "did not take the mail" in answer.text) == (503, True)
    # Neither the log nor the page names the person.
    assert address not in caplog.text + "".join(answer.text for answer in answers)
    # The account was made. Who signs in with it is sent the mail again.
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    Client().post("/accounts/login/", {"login": "eve", "password": PASSWORD})
    assert [mail.to for mail in mails] == [["a@example.org"]]


@each_bad
def test_a_form_shows_one_sentence(mails, address):
    assert Client().post(RESET, {"email": address}).text.count("he email address is “") == 1


class TestFromBefore:
    """An address that was stored before it was refused: no answer fails, and a line says why."""

    def test_signing_in_and_asking_for_the_mail_again(self, mails, caplog):
        eve = User.objects.create_user("eve", password=PASSWORD)
        give_old_address(eve)

        answer = Client().post("/accounts/login/", {"login": "eve", "password": PASSWORD})

        assert answer.status_code == 302
        (line,) = undeliverable(caplog)
        assert (line.domains, line.reason) == (["a.\u200d.org"], "UnicodeError")
        client = Client()
        client.force_login(eve)
        assert client.post(EMAILS, {"email": OLD, "action_send": ""}).status_code == 302
        assert len(undeliverable(caplog)) == 2
        assert mails == []

    def test_the_forms_refuse_it_as_that_of_a_stranger(self, mails):
        give_old_address(User.objects.create_user("eve"))

        for answer in (Client().post(RESET, {"email": OLD}), signed_up("eve2", OLD)):
            assert (answer.status_code, WORDS in answer.text) == (200, True)
        assert mails == []

    def test_a_message_of_a_channel_is_given_up_at_once(self, scene, caplog, mailoutbox):
        give_old_address(scene.own.user)
        channel = Channel.objects.create(
            workspace=scene.own.workspace, kind="mail", name="a", address=OLD, topics=["alerts"]
        )
        send_test(channel)

        assert send_due() == 1
        delivery = Delivery.objects.get()
        assert (delivery.state, len(delivery.attempts)) == ("failed", 1)
        assert "No mail can be sent" in delivery.attempts[0]["reason"]
        assert len(undeliverable(caplog)) == 1

    def test_a_report_is_stored_and_goes_to_the_others(self, scene, caplog, mailoutbox):
        give_old_address(User.objects.create_user("op", is_staff=True))
        User.objects.create_user("op2", "op2@example.org", is_staff=True)
        form = {"page": f"/s/{make_things(scene)['shared']}", "reason": "spam"}

        assert Client().post("/report", form).status_code == 302
        assert [mail.to for mail in mailoutbox] == [["op2@example.org"]]
        assert len(undeliverable(caplog)) == 1

    def test_a_report_survives_a_contact_that_gets_no_mail(self, scene, settings, caplog):
        settings.ABUSE_CONTACT = f"mailto:{OLD}"

        thing = takedowns.thing_of_workspace(scene.own.workspace)
        takedowns._tell_staff(Report(workspace=thing.workspace, page="/", reason="spam"), thing)

        assert len(undeliverable(caplog)) == 1

    def test_the_others_are_warned_of_a_published_token(self, scene, caplog, mailoutbox):
        give_old_address(scene.own.user)
        User.objects.filter(pk=scene.viewer.pk).update(email="eve@example.org")
        scene.viewer.memberships.update(role="owner")
        asked = TokenRequest("nightly", ["runs:read"])
        token, _ = make_token(scene.own.user, scene.own.workspace, asked)

        leaks.warn_of_leak(token.pk, "")

        assert [mail.to for mail in mailoutbox] == [["eve@example.org"]]
        assert len(undeliverable(caplog)) == 1

    def test_an_operator_gives_a_new_password(self, monkeypatch):
        give_old_address(User.objects.create_user("eve"))
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))

        call_command("make_user", "eve", "--new-password", stdout=io.StringIO())

        assert User.objects.get().check_password(PASSWORD)
