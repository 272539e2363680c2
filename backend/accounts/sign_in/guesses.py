"""Wrong passwords and codes: whose counters they fill, and how long their sender waits.

A browser that signed in to the account before, and a session that is asked again, have a counter of
their own. All others pay with their network, their network for this account, and the account as all
such browsers see it.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.http import HttpRequest

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import (
    FAILED_SIGN_INS,
    FAILED_SIGN_INS_IN_NEW_BROWSERS,
    FAILED_SIGN_INS_PER_ACCOUNT,
    Limiter,
)
from backend.accounts.models import User
from backend.accounts.sign_in import browsers

# What is proved: each is counted apart for an account, so that guessed passwords do not keep the
# owner from giving a code.
PASSWORD, CODE = "password", "code"


@dataclass(frozen=True, slots=True)
class Guess:
    """Somebody proves to be the owner of an account.

    `account`: a name as it was typed, or the id of a user. `payer`: what alone pays for it, such as
    a browser that signed in before or a session; empty for a browser that is new to the account.
    """

    proof: str
    account: str
    meta: Mapping[str, str]
    payer: str = ""


def of_password(request: HttpRequest, user: User | None) -> Guess:
    """The password in this form: of `user`, who is signed in and asked again, or of the name that
    was typed."""
    if user is not None:
        return Guess(PASSWORD, str(user.pk), request.META, _session(request))
    typed = request.POST.get("login", "") if request.method == "POST" else ""
    browser = browsers.browser_known_to(request, typed)
    return Guess(PASSWORD, typed, request.META, browser)


def of_code(request: HttpRequest, user: User, *, is_signed_in: bool) -> Guess:
    """A code of the second factor of `user`, who gave the password or is signed in already."""
    payer = _session(request) if is_signed_in else browsers.browser_of_account(request, user)
    return Guess(CODE, str(user.pk), request.META, payer)


def _session(request: HttpRequest) -> str:
    return f"session {request.session.session_key}"


def check(guess: Guess, *, hint: str = "") -> None:
    """Raise TooOften where a counter of the guess is full. Counts nothing."""
    waits = [
        (throttle.seconds_left(limiter, payer), limiter) for limiter, payer in _counters(guess)
    ]
    wait_s, limiter = max(waits, key=lambda wait: wait[0])
    if wait_s:
        raise throttle.TooOften(limiter, wait_s, hint=hint)


def count_wrong(guess: Guess) -> None:
    """Remember one wrong password or code."""
    for limiter, payer in _counters(guess):
        throttle.seconds_until(limiter, payer)


def _counters(guess: Guess) -> Iterator[tuple[Limiter, throttle.Payer]]:
    # Folded at least as far as UPPER() of PostgreSQL does it, by which accounts are looked up: a
    # dotless i is an I there, and would have counters of its own.
    account = " ".join(guess.account.split()).upper().casefold()
    # As a hash: what people type is no name to keep, and may be long.
    key = f"{guess.proof} {hashlib.sha256(account.encode()).hexdigest()}"
    if guess.payer:
        yield FAILED_SIGN_INS_PER_ACCOUNT, throttle.payer_of(f"{key} {guess.payer}")
        return
    yield FAILED_SIGN_INS, throttle.network_of(guess.meta)
    if account:
        network = throttle.network_of(guess.meta, prefix=f"{key} ")
        yield FAILED_SIGN_INS_PER_ACCOUNT, network
        yield FAILED_SIGN_INS_IN_NEW_BROWSERS, throttle.payer_of(key)
