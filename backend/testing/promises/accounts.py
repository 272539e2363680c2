"""Nobody learns by the time of an answer who has an account (D6)."""

import re
import time
from collections.abc import Mapping

import httpx

from backend.testing.promises.ground import Finding, Ground, Say, own_ground

# Tries with an account and without one, by form.
TRIES = {"/accounts/login/": 100, "/accounts/password/reset/": 50}
MANY = "1000000000"
# Each try comes from an address of its own, which the site believes, and no account is limited.
VARIABLES = {
    "TRUST_PROXY": "true",
    "FAILED_SIGN_INS_PER_HOUR": MANY,
    "FAILED_SIGN_INS_PER_ACCOUNT": MANY,
    "FAILED_SIGN_INS_IN_NEW_BROWSERS": MANY,
}
MAKE = """
from backend.accounts.models import User
for number in range({count}):
    name = f"known-{{number}}"
    User.objects.create_user(username=name, email=f"{{name}}@example.org", password="a long one")
"""
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def accounts(say: Say) -> Finding:
    """A wrong password, and a reset, for names with and without an account, in turn."""
    with own_ground(say, variables=VARIABLES) as ground:
        ground.site.manage("shell", "-v0", "-c", MAKE.format(count=max(TRIES.values())))
        for form, tries in TRIES.items():
            say(f"{tries} of {form}")
            _compare(ground, form, tries)
        return ground.finding


def _compare(ground: Ground, form: str, tries: int) -> None:
    took_s: dict[str, list[float]] = {"known": [], "nobody": []}
    different = 0
    for number in range(tries):
        answers = []
        for place, kind in enumerate(took_s):
            address = f"10.{place}.{number >> 8}.{number & 255}"
            name = f"{kind}-{number}@example.org"
            answer, seconds = _send(ground.site.url, form, name, address)
            took_s[kind].append(seconds)
            answers.append((answer.status_code, _plain(answer.text, name)))
        different += answers[0] != answers[1] or answers[0][0] not in (200, 302)
    ground.finding.expect_alike(form, took_s, different=different, first="with an account")


def _send(url: str, form: str, name: str, address: str) -> tuple[httpx.Response, float]:
    """The answer to the form, and how long it took."""
    headers = {"x-forwarded-for": address, "x-forwarded-proto": "http"}
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        found = CSRF.search(client.get(form).text)
        given: Mapping[str, str] = {
            "csrfmiddlewaretoken": found[1] if found else "",
            "login": name,
            "email": name,
            "password": "a wrong password",
        }
        began = time.perf_counter()
        answer = client.post(form, data=given)
        return answer, time.perf_counter() - began


def _plain(text: str, name: str) -> str:
    return CSRF.sub("", text).replace(name, "")
