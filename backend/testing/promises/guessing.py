"""A million guessed links, asked of the views themselves: runs inside a site (C3).

The limits count by a clock that goes on by a thousandth of a second with each guess, so how long
this takes makes them no stricter and no looser than a sender of 1,000 a second would find. They
count in this process, as they do while Redis is away: Redis would forget by its own clock.
"""

import json
import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.test import RequestFactory
from django.urls import resolve
from limits.storage import memory as limits_clock

from backend.accounts import throttle
from backend.accounts.models import User
from backend.broker import CACHE
from backend.errors import TooMany
from backend.sharing.models import ResultSet, SharedRun, Visibility
from backend.testing.scenes import make_result_set, make_shared_run
from backend.testing.uploads import make_tenant

# Shared results, and shared runs.
SHARED = 1000, 20
A_SECOND = 1000
# The bits of a random UUID that are not random: its version and its variant.
FIXED = frozenset({62, 63, 76, 77, 78, 79})
BATCH = 1000
FORMS = "/s/{}", "/shared/runs/{}"
ADDRESS = "198.51.100.7"


def main(guesses: int) -> None:
    """Write what the guesses found, as JSON, on standard output."""
    links = _share()
    CACHE.pause(float("inf"))
    user = User.objects.create_user(username="guesser")
    report: dict[str, Any] = {"links": len(links)}
    guessed = _guesses(links, guesses)
    report["address"] = _ask(guessed, lambda _: (AnonymousUser(), ADDRESS))
    some = guessed[: len(guessed) // 10]
    report["account"] = _ask(some, lambda number: (user, f"203.0.113.{number % 250}"))
    report["found"] = sum(_count_found(batch) for batch in _batches(guessed))
    # What would be found, if it were guessed.
    report["control"] = _count_found([*links, *guessed[:BATCH]])
    report["close"] = len(links) * (128 - len(FIXED))
    sys.stdout.write(json.dumps(report) + "\n")


def _share() -> list[uuid.UUID]:
    workspace = make_tenant("guessed").workspace
    sets, runs = SHARED
    return [
        *(make_result_set(workspace, Visibility.UNLISTED).link for _ in range(sets)),
        *(make_shared_run(workspace).link for _ in range(runs)),
    ]


def _guesses(links: list[uuid.UUID], count: int) -> list[uuid.UUID]:
    """Each link with one bit changed, and random ones, in any order."""
    dice = random.Random(7)  # noqa: S311  no secret
    close = [
        uuid.UUID(int=link.int ^ (1 << bit))
        for link in links
        for bit in range(128)
        if bit not in FIXED
    ]
    others = (uuid.UUID(int=dice.getrandbits(128), version=4) for _ in range(count - len(close)))
    guessed = [*close, *others][:count]
    dice.shuffle(guessed)
    return guessed


def _ask(guessed: list[uuid.UUID], sender: Callable[[int], tuple[Any, str]]) -> dict[str, int]:
    """How many guesses got each answer: "404" was looked up, "429" was not."""
    began = time.time()
    answers: Counter[str] = Counter()
    factory = RequestFactory()
    views = [_view_of(form) for form in FORMS]
    clock = SimpleNamespace(now=began)
    stopped = SimpleNamespace(time=lambda: clock.now)
    limits_clock.time = throttle.time = stopped  # type: ignore[attr-defined, assignment]
    for number, guess in enumerate(guessed):
        clock.now = began + number / A_SECOND
        turn = number % len(FORMS)
        user, address = sender(number)
        request = factory.get(FORMS[turn].format(guess), REMOTE_ADDR=address)
        request.user, request.session = user, {}  # type: ignore[assignment]
        answers[_answer(views[turn], request, guess)] += 1
    return dict(answers)


def _view_of(form: str) -> Callable[[Any, uuid.UUID], Any]:
    """The view that answers such links; finding it again for each would take longer than asking."""
    found = resolve(form.format(uuid.uuid4()))
    (name,) = found.kwargs
    return lambda request, link: found.func(request, **{name: link})


def _answer(view: Callable[[Any, uuid.UUID], Any], request: Any, link: uuid.UUID) -> str:
    try:
        return str(view(request, link).status_code)
    except Http404:
        return "404"
    except TooMany:
        return "429"


def _batches(guessed: list[uuid.UUID]) -> Iterator[list[uuid.UUID]]:
    for at in range(0, len(guessed), BATCH):
        yield guessed[at : at + BATCH]


def _count_found(links: list[uuid.UUID]) -> int:
    """What stands behind these links, without any limit."""
    sets = ResultSet.objects.readable([]).filter(link__in=links).count()
    return sets + SharedRun.objects.filter(link__in=links).count()
