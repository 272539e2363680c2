"""The cases of the limiters: who fills a counter, and who must not be refused then."""

import itertools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.test import Client

from backend.accounts.models import TokenKind, User, Workspace
from backend.accounts.tokens import tokens
from backend.accounts.workspace.workspace_links import make_link
from backend.testing.uploads import WRK, make_file, make_tenant

PASSWORD = "a long right password"
LOGIN, RESET = "/accounts/login/", "/accounts/password/reset/"


@dataclass
class Case:
    """`send` fills a counter of its payer. `others`: who must not be refused then."""

    send: Callable
    others: dict[str, Callable] = field(default_factory=dict)
    is_api: bool = False


class Net:
    """Addresses that no other test uses: a site of IPv6 with several networks, and another."""

    def __init__(self):
        number = uuid.uuid4().hex[:8]
        self.site = f"2001:db8:{number[:4]}"
        self.mine = f"{self.site}:1::1"
        self.same_network = f"{self.site}:1::2"
        self.neighbour = f"{self.site}:2::1"
        self.elsewhere = f"2001:db9:{number[4:]}:1::1"


def browser(address, user=None):
    client = Client(REMOTE_ADDR=address)
    if user is not None:
        client.force_login(user)
    return client


def make_person():
    name = f"person-{uuid.uuid4().hex[:8]}"
    return User.objects.create_user(username=name, email=f"{name}@example.org", password=PASSWORD)


def sign_in(address, name, password=PASSWORD):
    return Client(REMOTE_ADDR=address).post(LOGIN, {"login": name, "password": password})


def known_browser(address, person):
    client = Client(REMOTE_ADDR=address)
    assert client.post(LOGIN, {"login": person.username, "password": PASSWORD}).status_code == 302
    del client.cookies["session"]
    return lambda: client.post(LOGIN, {"login": person.username, "password": PASSWORD})


def with_token(tenant, address):
    return Client(REMOTE_ADDR=address, headers=tenant.headers)


def uploads(net):
    own, other = make_tenant("own"), make_tenant("other")

    def upload(tenant):
        return with_token(tenant, net.mine).post("/api/v1/uploads", {"file": make_file()})

    return Case(lambda: upload(own), {"another token": lambda: upload(other)}, is_api=True)


def requests(net):
    tenant = make_tenant("own")

    def ask(client):
        return client.get("/api/v1/limits")

    return Case(
        lambda: ask(browser(net.mine)),
        {
            "a valid token of the same address": lambda: ask(with_token(tenant, net.mine)),
            "a session of the same address": lambda: ask(browser(net.mine, tenant.user)),
            "the network beside it": lambda: ask(browser(net.neighbour)),
            "an address elsewhere": lambda: ask(browser(net.elsewhere)),
        },
        is_api=True,
    )


def previews(net):
    own, other = make_tenant("own"), make_tenant("other")

    def read(tenant):
        form = {"file": make_file(), "workspace": tenant.workspace.slug}
        return browser(net.mine, tenant.user).post("/api/v1/uploads/preview", form)

    return Case(
        lambda: read(own),
        {
            "another user": lambda: read(other),
            "nobody": lambda: browser(net.mine).post("/try", {"paste": WRK}),
        },
        is_api=True,
    )


def tries(net):
    tenant = make_tenant("own")

    def read(address):
        return browser(address).post("/try", {"paste": WRK})

    form = {"file": make_file(), "workspace": "own"}
    return Case(
        lambda: read(net.mine),
        {
            "the network beside it": lambda: read(net.neighbour),
            "a member of the same address": lambda: browser(net.mine, tenant.user).post(
                "/api/v1/uploads/preview", form
            ),
        },
    )


def leak_reports(net):
    def report(address):
        body = json.dumps([{"token": "nothing"}])
        return browser(address).post("/api/v1/leaked-tokens", body, "application/json")

    return Case(
        lambda: report(net.mine),
        {"the network beside it": lambda: report(net.neighbour)},
        is_api=True,
    )


def reports(net):
    workspace = make_tenant("own").workspace
    Workspace.objects.filter(pk=workspace.pk).update(is_public=True)
    form = {"page": f"/w/{workspace.slug}/", "reason": "spam", "text": "", "email": ""}

    def report(address):
        return browser(address).post("/report", form)

    return Case(lambda: report(net.mine), {"the network beside it": lambda: report(net.neighbour)})


def own_data(net):
    own, other = make_person(), make_person()

    def download(person):
        client = Client(REMOTE_ADDR=net.mine)
        client.post(LOGIN, {"login": person.username, "password": PASSWORD})
        return client.post("/account/data/export")

    return Case(lambda: download(own), {"another user": lambda: download(other)})


def invitations(net):
    own, other = make_tenant("own"), make_tenant("other")

    def invite(tenant):
        form = {"role": "member", "email": "eve@example.org"}
        return browser(net.mine, tenant.user).post(f"/w/{tenant.workspace.slug}/members", form)

    return Case(lambda: invite(own), {"another user": lambda: invite(other)})


def acts(net):
    own, other = make_tenant("own"), make_tenant("other")

    def make_token(tenant):
        form = {"name": "a", "scopes": ["runs:read"], "workspace": tenant.workspace.slug}
        return browser(net.mine, tenant.user).post("/api/v1/tokens", form, "application/json")

    return Case(lambda: make_token(own), {"another user": lambda: make_token(other)}, is_api=True)


def sign_ups(net):
    def sign_up(address):
        return browser(address).post("/accounts/signup/", {"username": "x"})

    return Case(
        lambda: sign_up(net.mine), {"the network beside it": lambda: sign_up(net.neighbour)}
    )


def visits(net):
    tenant = make_tenant("own")
    clear = make_link(tenant.user, tenant.workspace)
    opened, person = browser(net.elsewhere), browser(net.mine, make_person())
    numbers = itertools.count()

    def open_link(client, made_up=""):
        client.cookies["session"] = made_up or f"made-up-{next(numbers)}"
        return client.get(f"/shared/{clear}")

    assert opened.get(f"/shared/{clear}").status_code == 302
    opened.defaults["REMOTE_ADDR"] = net.mine
    return Case(
        lambda: open_link(browser(net.mine)),
        {
            "a browser that opened one before": lambda: opened.get(f"/shared/{clear}"),
            "somebody who is signed in": lambda: person.get(f"/shared/{clear}"),
            "the network beside it": lambda: open_link(browser(net.neighbour)),
        },
    )


def password_resets(net):
    def ask(address):
        return browser(address).post(RESET, {"email": f"{uuid.uuid4().hex}@example.org"})

    return Case(lambda: ask(net.mine), {"the network beside it": lambda: ask(net.neighbour)})


def account_changes(net):
    person = make_person()
    own, other = browser(net.mine, person), browser(net.mine, person)

    def change(client):
        return client.post("/accounts/password/change/", {"oldpassword": "wrong"})

    return Case(lambda: change(own), {"another session of the person": lambda: change(other)})


def failed_sign_ins(net):
    person = make_person()

    def guess(address):
        return sign_in(address, uuid.uuid4().hex, "wrong")

    return Case(
        lambda: guess(net.mine),
        {
            "a browser that signed in before": known_browser(net.mine, person),
            "the network beside it": lambda: guess(net.neighbour),
            "the owner elsewhere": lambda: sign_in(net.elsewhere, person.username),
        },
    )


def failed_sign_ins_per_account(net):
    person, other = make_person(), make_person()
    return Case(
        lambda: sign_in(net.mine, person.username, "wrong"),
        {
            "a browser that signed in before": known_browser(net.mine, person),
            "another account of the same address": lambda: sign_in(net.mine, other.username),
            "the owner in the network beside it": lambda: sign_in(net.neighbour, person.username),
            "the owner elsewhere": lambda: sign_in(net.elsewhere, person.username),
        },
    )


def failed_sign_ins_in_new_browsers(net):
    person, other = make_person(), make_person()
    numbers = iter(range(100, 200))
    link = tokens.issue(
        TokenKind.LINK,
        make_tenant("own").workspace,
        user=person,
        name="link",
        lifetime=timedelta(hours=1),
    )
    return Case(
        lambda: sign_in(f"198.18.9.{next(numbers)}", person.username, "wrong"),
        {
            "a browser that signed in before": known_browser(net.mine, person),
            "another account": lambda: sign_in(net.mine, other.username),
            "a sign-in link": lambda: browser(net.elsewhere).get(f"/sign-in/{link}"),
            "the form for a new password": lambda: browser(net.elsewhere).post(
                RESET, {"email": person.email}
            ),
        },
    )


CASES = {
    case.__name__: case
    for case in (
        *(uploads, requests, previews, tries, leak_reports, reports, own_data, invitations),
        *(acts, sign_ups, visits),
        *(password_resets, account_changes, failed_sign_ins, failed_sign_ins_per_account),
        failed_sign_ins_in_new_browsers,
    )
}
