"""Tokens: scopes, ends, networks, peppers, and what happens to published ones."""

import io
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from backend.accounts.credentials import token_format
from backend.accounts.limits import addresses
from backend.accounts.models import (
    BEARER_KINDS,
    Invitation,
    Membership,
    Role,
    Token,
    TokenKind,
    User,
)
from backend.accounts.sign_in import leaks
from backend.accounts.sign_in.adapter import SecondFactorAdapter
from backend.accounts.tokens import token_making, tokens
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace import invitations, workspace_links
from backend.accounts.workspace.scopes import Scope
from backend.feeds import tokens as feed_tokens
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db
LINKS = ["links of workspaces", "invitations", "sign-in links", "feed tokens"]
OLD, NEW = "an old pepper 0123456789", "a new pepper 0123456789"


@pytest.fixture
def tenant():
    return make_tenant()


def find(clear):
    return tokens.find(clear, *BEARER_KINDS)


def member_of(tenant, role):
    user = User.objects.create_user(username=f"the-{role}", email=f"{role}@example.org")
    Membership.objects.create(user=user, workspace=tenant.workspace, role=role)
    return user


class TestMaking:
    @pytest.mark.parametrize(
        ("role", "scope", "is_given"),
        [
            (Role.VIEWER, "runs:read", True),
            (Role.VIEWER, "runs:write", False),
            (Role.MEMBER, "agent", True),
            (Role.MEMBER, "admin", False),
            (Role.ADMIN, "admin", True),
            (Role.OWNER, "emperor", False),
        ],
    )
    def test_nobody_gives_a_scope_they_do_not_have(self, tenant, role, scope, is_given):
        asked = TokenRequest("build", [scope])
        if is_given:
            token, clear = make_token(member_of(tenant, role), tenant.workspace, asked)
            assert find(clear).scopes == token.scopes == [scope]
        else:
            with pytest.raises(token_making.TokenNotMade, match=f"The scope is “{scope}”"):
                make_token(member_of(tenant, role), tenant.workspace, asked)

    def test_the_form_names_an_agents_token(self, tenant):
        made = [
            make_token(tenant.user, tenant.workspace, TokenRequest("x", scopes))[1]
            for scopes in (["agent"], ["runs:read"])
        ]
        assert [clear.split("_")[1] for clear in made] == ["agent", "api"]

    def test_a_stranger_makes_none(self, tenant):
        with pytest.raises(token_making.TokenNotMade):
            make_token(
                make_tenant("other").user, tenant.workspace, TokenRequest("x", ["runs:read"])
            )

    @pytest.mark.parametrize(
        ("asked", "reason"),
        [
            (TokenRequest("", ["runs:read"]), "name has 0 characters"),
            (TokenRequest("x" * 121, ["runs:read"]), "name has 121"),
            (TokenRequest("x", []), "No scope was given"),
            (TokenRequest("x", ["runs:read"], days=0), "after 0 days"),
            (TokenRequest("x", ["runs:read"], networks=["10.0.0.1/8"]), "without host bits"),
            (TokenRequest("x", ["runs:read"], networks=["nonsense"]), "“nonsense”"),
        ],
    )
    def test_what_is_refused_says_why(self, tenant, asked, reason):
        before = Token.objects.count()
        with pytest.raises((token_making.TokenNotMade, addresses.BadNetwork), match=reason):
            make_token(tenant.user, tenant.workspace, asked)
        assert Token.objects.count() == before

    def test_a_workspace_has_a_limit_and_ended_tokens_leave_it(self, tenant, monkeypatch):
        monkeypatch.setattr(token_making, "MOST_USABLE", 1)
        with pytest.raises(token_making.TooManyTokens, match="1 tokens"):
            make_token(tenant.user, tenant.workspace, TokenRequest("x", ["runs:read"]))
        tokens.revoke(Token.objects.get())
        make_token(tenant.user, tenant.workspace, TokenRequest("x", ["runs:read"]))

    def test_a_token_gives_no_more_than_it_has(self, tenant):
        asked = TokenRequest("boss", ["admin", "runs:read"], days=10, networks=["192.0.2.0/24"])
        boss = find(make_token(tenant.user, tenant.workspace, asked)[1])
        with pytest.raises(token_making.TokenNotMade, match="runs:write"):
            make_token(boss, tenant.workspace, TokenRequest("x", ["runs:write"]))
        made, _ = make_token(boss, tenant.workspace, TokenRequest("x", ["runs:read"], days=None))
        assert made.expires_at <= boss.expires_at + timedelta(seconds=1)
        assert made.networks == ["192.0.2.0/24"]
        for network, is_given in (("192.0.2.8/30", True), ("192.0.0.0/16", False), ("::/0", False)):
            asked = TokenRequest("x", ["runs:read"], networks=[network])
            if is_given:
                make_token(boss, tenant.workspace, asked)
            else:
                with pytest.raises(token_making.TokenNotMade, match="expected parts of"):
                    make_token(boss, tenant.workspace, asked)
        with pytest.raises(token_making.TokenNotMade):
            make_token(boss, make_tenant("other").workspace, TokenRequest("x", ["runs:read"]))

    def test_without_an_end_it_never_expires(self, tenant):
        asked = TokenRequest("x", ["runs:read"], days=None)
        token, clear = make_token(tenant.user, tenant.workspace, asked)
        assert token.expires_at is None
        assert not find(clear).is_expired


class TestUse:
    def test_it_never_may_more_than_its_maker_may_now(self, tenant):
        asked = TokenRequest("x", list(Scope))
        _, clear = make_token(tenant.user, tenant.workspace, asked)
        for role, count in ((Role.ADMIN, 4), (Role.MEMBER, 3), (Role.VIEWER, 1)):
            Membership.objects.filter(user=tenant.user).update(role=role)
            assert len(find(clear).scopes) == count, role

    def test_the_last_use_is_written_once_a_minute(self, tenant, django_assert_num_queries):
        for used_s_ago, writes in ((None, 1), (30, 0), (61, 1)):
            ago = used_s_ago and timezone.now() - timedelta(seconds=used_s_ago)
            Token.objects.update(used_at=ago)
            token = find(tenant.token)
            with django_assert_num_queries(writes):
                tokens.touch(token)

    @pytest.mark.parametrize(
        ("sender", "is_accepted"),
        [
            ("192.0.2.7", True),
            ("192.0.3.7", False),
            ("::ffff:192.0.2.7", True),
            ("2001:db8::1", True),
            ("2001:db9::1", False),
            ("", False),
            ("nonsense", False),
        ],
    )
    def test_networks(self, tenant, client, sender, is_accepted):
        Token.objects.update(networks=["192.0.2.0/24", "2001:db8::/32"])
        response = client.get("/api/v1/me", headers=tenant.headers, REMOTE_ADDR=sender)
        assert response.status_code == (200 if is_accepted else 401)
        if not is_accepted:
            assert "not accepted from the address" in response.json()["detail"]

    @pytest.mark.parametrize(
        ("trusts", "forwarded", "is_accepted"),
        [
            (False, "192.0.2.7", False),
            (True, "192.0.2.7", True),
            (True, "192.0.2.7, 203.0.113.9", False),
        ],
    )
    def test_a_forged_forwarded_address_opens_nothing(
        self, tenant, client, settings, trusts, forwarded, is_accepted
    ):
        settings.TRUST_PROXY = trusts
        Token.objects.update(networks=["192.0.2.0/24"])
        headers = {**tenant.headers, "x-forwarded-for": forwarded}
        response = client.get("/api/v1/me", headers=headers, REMOTE_ADDR="203.0.113.9")
        assert response.status_code == (200 if is_accepted else 401)

    def test_a_revoked_token_ends_with_the_next_request(self, tenant, client):
        assert client.get("/api/v1/me", headers=tenant.headers).status_code == 200
        tokens.revoke(Token.objects.get())
        assert client.get("/api/v1/me", headers=tenant.headers).status_code == 401


class TestPeppers:
    @pytest.fixture
    def made_before(self, settings):
        settings.TOKEN_PEPPER = OLD
        tenant = make_tenant()
        factor = SecondFactorAdapter().encrypt("JBSWY3DP")
        Authenticator.objects.create(user=tenant.user, type="totp", data={"secret": factor})
        settings.TOKEN_PEPPER, settings.FORMER_TOKEN_PEPPERS = NEW, [OLD]
        return tenant

    def test_a_replaced_pepper_ends_no_token_and_its_use_moves_it(self, made_before, settings):
        before = bytes(Token.objects.get().digest)
        find(made_before.token)
        stored = Token.objects.get()
        assert bytes(stored.digest) != before
        assert stored.pepper_id == token_format.pepper_id()
        settings.FORMER_TOKEN_PEPPERS = []
        assert find(made_before.token).pk == stored.pk

    def test_an_unused_token_ends_when_its_pepper_is_removed(self, made_before, settings):
        settings.FORMER_TOKEN_PEPPERS = []
        with pytest.raises(tokens.TokenRefused, match="does not know"):
            find(made_before.token)

    def test_the_command_moves_second_factors_and_counts_tokens(self, made_before, settings):
        assert printed("change_pepper").startswith("1 second factors")
        assert "1 tokens were not used" in printed("change_pepper")
        find(made_before.token)
        assert "No tokens, sign-in links" in printed("change_pepper")
        settings.FORMER_TOKEN_PEPPERS = []
        stored = Authenticator.objects.get().data["secret"]
        assert SecondFactorAdapter().decrypt(stored) == "JBSWY3DP"

    def test_an_expired_token_is_not_counted(self, made_before):
        Token.objects.update(expires_at=timezone.now())
        assert "No tokens" in printed("change_pepper")

    @pytest.mark.parametrize("kind", LINKS)
    def test_links_outlive_the_change_once_used(self, kind, made_before, settings):
        find(made_before.token)
        settings.TOKEN_PEPPER = OLD
        make, use = self.links(made_before)[kind]
        clear = make()
        settings.TOKEN_PEPPER = NEW
        assert f"1 {kind} were not used" in printed("change_pepper")
        use(clear)
        assert f"1 {kind}" not in printed("change_pepper")
        settings.FORMER_TOKEN_PEPPERS = []
        assert use(clear)

    def links(self, tenant):
        """By kind, how one is made and used."""
        user, workspace, lifetime = tenant.user, tenant.workspace, tokens.LINK_LIFETIME
        return {
            "links of workspaces": (
                lambda: workspace_links.make_link(user, workspace),
                workspace_links.find_link,
            ),
            "invitations": (
                lambda: invitations.invite(user, workspace, Role.VIEWER),
                invitations.find,
            ),
            "feed tokens": (
                lambda: feed_tokens.make_token(workspace, user, "reader")[1],
                lambda clear: feed_tokens.opened_by(clear, None),
            ),
            "sign-in links": (
                lambda: tokens.issue(
                    TokenKind.LINK, workspace, user=user, name="l", lifetime=lifetime
                ),
                lambda clear: tokens.find(clear, TokenKind.LINK),
            ),
        }


def printed(command):
    out = io.StringIO()
    call_command(command, stdout=out)
    return out.getvalue()


class TestLeaks:
    def report(self, client, *texts):
        leaked = [{"token": text, "type": "ls", "url": "https://u:p@ex.org/a"} for text in texts]
        return client.post("/api/v1/leaked-tokens", leaked, content_type="application/json")

    def test_a_reported_token_is_revoked_and_marked(self, tenant, client):
        assert self.report(client, tenant.token).status_code == 204
        token = Token.objects.get()
        assert token.revoked_at is not None
        assert token.leaked_at is not None
        with pytest.raises(tokens.TokenRefused, match="revoked"):
            find(tenant.token)

    def test_links_and_invitations_end_too(self, tenant, client):
        lifetime = tokens.LINK_LIFETIME
        link = tokens.issue(
            TokenKind.LINK, tenant.workspace, user=tenant.user, name="l", lifetime=lifetime
        )
        invitation = invitations.invite(tenant.user, tenant.workspace, Role.VIEWER)
        self.report(client, link, invitation)
        with pytest.raises(tokens.TokenRefused):
            tokens.redeem_link(link)
        assert Invitation.objects.get().revoked_at is not None

    def test_every_text_is_answered_alike(self, tenant, client):
        right, unknown = tenant.token, token_format.new_token("agent")
        answers = [self.report(client, text) for text in (right, unknown, "nonsense", right)]
        assert {(answer.status_code, answer.content) for answer in answers} == {(204, b"")}
        own = {"Server-Timing": "", "X-Request-Id": "", "RateLimit": ""}
        headers = [{**answer.headers, **own} for answer in answers]
        assert all(header == headers[0] for header in headers)

    def test_only_that_token_is_revoked(self, tenant, client):
        other = make_tenant("other")
        self.report(client, tenant.token, *(token_format.new_token("agent") for _ in range(99)))
        assert find(other.token)

    @pytest.mark.parametrize(
        "body", [[{"token": "x"}] * 101, [{"token": "x" * 201}], [{}], {"token": "x"}, ["x"]]
    )
    def test_what_is_no_report_is_refused(self, client, body):
        response = client.post("/api/v1/leaked-tokens", body, content_type="application/json")
        assert response.status_code == 400

    def test_reports_of_one_address_are_limited(self, settings):
        settings.LEAK_REPORTS_PER_MINUTE = 2
        sent = [
            self.report(Client(REMOTE_ADDR="192.0.2.9"), "nonsense").status_code for _ in range(3)
        ]
        assert sent == [204, 204, 429]

    def test_its_maker_and_the_owners_are_told(self, tenant):
        maker = member_of(tenant, Role.MEMBER)
        member_of(tenant, Role.OWNER)
        token, _ = make_token(maker, tenant.workspace, TokenRequest("nightly", ["runs:read"]))
        leaks.warn_of_leak(token.pk, leaks.seen_at("https://u:p@ex.org/a?b=c#d"))
        assert sorted(sent.to[0] for sent in mail.outbox) == [
            "member@example.org",
            "owner@example.org",
        ]
        assert "“nightly”" in mail.outbox[0].body
        assert "https://ex.org/a\n" in mail.outbox[0].body
        assert "b=c" not in mail.outbox[0].body

    def test_no_mail_goes_to_an_address_that_nobody_confirmed(self, tenant, settings):
        settings.SENDS_MAIL = True
        maker = member_of(tenant, Role.MEMBER)
        token, _ = make_token(maker, tenant.workspace, TokenRequest("nightly", ["runs:read"]))
        leaks.warn_of_leak(token.pk, "")
        assert mail.outbox == []

    def test_the_mails_are_asked_for_once(
        self, tenant, monkeypatch, django_capture_on_commit_callbacks
    ):
        asked = []
        monkeypatch.setattr(leaks, "_request_warning", lambda *given: asked.append(given))
        with django_capture_on_commit_callbacks(execute=True):
            for _ in range(2):
                leaks.end_leaked(leaks.Leak(tenant.token, "nonsense"))
        assert asked == [(Token.objects.get().pk, "")]
