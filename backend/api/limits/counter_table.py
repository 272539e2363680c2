"""The table of counters in docs/operations.md: who fills each, who is refused while it is full, and
for how long.

Counters by time are those of `backend.accounts.limits.limiters`. Counters of what goes on at the
same time are in each web process, in the proxy of Compose, and in the queue of uploads.
"""

import re
from dataclasses import dataclass

from django.conf import settings

from backend.accounts.limits.limiters import LIMITERS, MAILS, Limiter
from backend.analysis.loading import viewer_slots
from backend.runs.registry.registry import MOST_WAITING, MOST_WAITING_OF_WORKSPACE, WAIT_AGAIN_S
from backend.sharing.drawing import DRAWINGS
from backend.sharing.workspace_secrets import SEARCHES
from backend.untrusted.limits import (
    ANONYMOUS_BYTES,
    LARGE_BODIES,
    LARGE_BODIES_TOGETHER,
    REQUEST_THREADS,
    REQUEST_THREADS_OF_NETWORK,
)
from backend.untrusted.sandbox import fair_slots
from backend.untrusted.sandbox.slots import (
    LONG_WORK,
    PREVIEW_PATIENCE_S,
    PREVIEWS,
    SHORT_WORK,
    STRANGERS,
)

COLUMNS = (
    "counter",
    "at most",
    "filled by",
    "refused while it is full",
    "for how long",
    "without the cache",
)
_VIEWER = "one user with all tokens, or one address (one /48 of IPv6) without an account"
_SAME_VIEWER = "the same viewer (429)"
_SENDER = "one token, or one signed-in user"
_SAME_SENDER = "the same token or user (429)"


@dataclass(frozen=True, slots=True)
class AtOnce:
    """What goes on at the same time. `wait`: until when who is refused is refused."""

    name: str
    most: str
    payer: str
    refused: str
    wait: str


def _places(of_owner: int | None, places: int) -> str:
    return f"{of_owner} of {places} places of a web process"


def _until(what: str, retry_s: int = fair_slots.RETRY_AFTER_S) -> str:
    return f"until one {what}; told to come back after {retry_s} s"


_GIVES_WAY = (
    "who has one, or had the last, leaves the place to wait to others (503); who has waited "
    f"{fair_slots.PATIENCE_S:g} s (503)"
)
_ABOVE = f"above {ANONYMOUS_BYTES >> 10} KiB of a web process"
_OF_A_WEB_PROCESS = (
    AtOnce(
        "large bodies",
        f"{LARGE_BODIES} bodies {_ABOVE}",
        _SENDER,
        _SAME_SENDER,
        "until one of them is answered",
    ),
    AtOnce(
        "large bodies of all tokens",
        f"{LARGE_BODIES_TOGETHER} bodies {_ABOVE}",
        "one workspace",
        "the same workspace (429)",
        "until one of them is answered",
    ),
    AtOnce(
        "bytes of large bodies",
        f"`BODIES_MAX_BYTES` in bodies {_ABOVE}",
        "one user with all tokens",
        "the user that has most (429)",
        "until the bodies are answered",
    ),
    AtOnce(
        "bytes of answers",
        f"`BODIES_MAX_BYTES` in answers that are no stored file {_ABOVE}",
        "one address (one /48 of IPv6)",
        "the address that has most (429; an answer that is being sent is cut off)",
        "until the answers are read",
    ),
    AtOnce(
        "requests that are answered",
        f"{REQUEST_THREADS_OF_NETWORK} of {REQUEST_THREADS} of a web process",
        "one address (one /48 of IPv6)",
        "nobody: they wait, and the address with the fewest comes next; a fifth is for "
        "addresses that have none",
        "until it is its turn",
    ),
    AtOnce(
        "previews",
        _places(PREVIEWS.of_owner, PREVIEWS.places),
        _VIEWER,
        f"{_SAME_VIEWER}; who runs one leaves the place to wait to who runs none (503); who "
        f"has waited {PREVIEW_PATIENCE_S:g} s (503)",
        _until("is read"),
    ),
    AtOnce(
        "previews without an account",
        f"{STRANGERS.of_owner} of {STRANGERS.places} places of a web process, of which "
        f"{STRANGERS.running} is read",
        "one address (one /48 of IPv6) without an account",
        "the same address (429); who has one read leaves the place to wait to who has none; "
        "visitors of other addresses where two have both places (503); members never",
        _until("is read"),
    ),
    AtOnce(
        "large answers",
        _places(viewer_slots.MEMBERS.of_owner, viewer_slots.MEMBERS.places),
        "one user with all tokens",
        f"{_SAME_VIEWER}; {_GIVES_WAY}",
        _until("is made", viewer_slots.RETRY_AFTER_S),
    ),
    AtOnce(
        "large answers without an account",
        _places(viewer_slots.VISITORS.of_owner, viewer_slots.VISITORS.places),
        "one address (one /48 of IPv6) without an account",
        f"the same address (429); {_GIVES_WAY}; members never",
        _until("is made", viewer_slots.RETRY_AFTER_S),
    ),
    AtOnce(
        "images",
        _places(DRAWINGS.of_owner, DRAWINGS.places),
        _VIEWER,
        f"{_SAME_VIEWER}; who has one drawn leaves the place to wait to who has none (503)",
        _until("is drawn"),
    ),
    AtOnce(
        "archives and large files",
        _places(LONG_WORK.of_owner, LONG_WORK.places),
        "one user with all tokens",
        f"the same user (429); {_GIVES_WAY}",
        _until("is searched"),
    ),
    AtOnce(
        "plain files and envelopes",
        _places(SHORT_WORK.of_owner, SHORT_WORK.places),
        "one user with all tokens",
        f"the same user (429); {_GIVES_WAY}",
        _until("is searched"),
    ),
    AtOnce(
        "searches of a workspace that is opened",
        _places(SEARCHES.of_owner, SEARCHES.places),
        "the first owner of the workspace",
        "the same owner (429); others where all places are taken (503)",
        _until("is searched"),
    ),
    AtOnce(
        "changes that wait for another one of the names of their workspace",
        _places(MOST_WAITING_OF_WORKSPACE, MOST_WAITING),
        "one workspace",
        "the same workspace; others that must wait where all places are taken (503)",
        _until("is over", WAIT_AGAIN_S),
    ),
)


_OF_THE_QUEUE = (
    AtOnce(
        "uploads that are read",
        "`READS_PER_WORKSPACE`",
        "one workspace",
        "nobody: further uploads of the workspace wait; persons come next in turn, however many "
        "workspaces they own",
        "until one is read",
    ),
)


def _of_the_proxy() -> tuple[AtOnce, ...]:
    folder = settings.BASE_DIR / "proxy"
    front, site, start = (
        (folder / name).read_text() for name in ("nginx.conf", "site.conf", "start.sh")
    )
    (connections,) = re.findall(r"limit_conn clients (\d+);", front)
    (answered,) = re.findall(r"limit_conn at_once (\d+);", site)
    (per_s,) = re.findall(r"REQUESTS_PER_S:-(\d+)", start)
    (times,) = re.findall(r"BURST\|\$\(\((\d+) \*", start)
    network, same = "one network", "the same network (429)"
    wait = "until one is answered; told to come back after 10 s"
    return (
        AtOnce(
            "requests of the proxy",
            f"`PROXY_REQUESTS_PER_S` ({per_s}) a second, and {times} times as many at once",
            network,
            same,
            "until a second has fewer; told to come back after 10 s",
        ),
        AtOnce("requests in the proxy", f"{answered} that are being answered", network, same, wait),
        AtOnce(
            "connections of the proxy",
            f"{connections}, from their first byte",
            network,
            "the same network (closed)",
            "until one ends",
        ),
    )


def as_markdown() -> str:
    """The table."""
    by_time = [
        f"| `{limiter.id}` | {_most(limiter)} {limiter.unit} | {limiter.payer} | "
        f"{limiter.refused} | {_wait(limiter)} | {_without_cache(limiter)} |"
        for limiter in LIMITERS
    ]
    at_once = [
        f"| {row.name} | {row.most} | {row.payer} | {row.refused} | {row.wait} | the same |"
        for row in (*_OF_A_WEB_PROCESS, *_OF_THE_QUEUE, *_of_the_proxy())
    ]
    head = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    return "\n".join([*head, *by_time, *at_once])


def _most(limiter: Limiter) -> str:
    return f"`{limiter.setting}`" if limiter.setting else f"{limiter.most():,}"


def _wait(limiter: Limiter) -> str:
    if limiter is MAILS:
        return "nobody is"
    about = "at most" if limiter.is_exact else "at most about"
    return f"{about} {_WINDOWS[limiter.per]}"


def _without_cache(limiter: Limiter) -> str:
    return "counted in each web process" if limiter.is_kept_while_away else "not counted"


_WINDOWS = {"minute": "a minute", "hour": "an hour", "day": "a day"}
