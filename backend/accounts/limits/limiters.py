"""The table of limits by time: what is counted, who fills it, and who is refused when it is full.

No counter that strangers can fill refuses anybody else. A counter belongs to a token, a person, a
session, a browser that signed in before, or a network. Secrets of 122 bits and more (tokens, links)
have none, because they cannot be guessed at any rate. Decision 0068 has the reasons.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from django.conf import settings

WINDOW_S = {"minute": 60, "hour": 3600, "day": 86_400}
# By mail and user: strangers are written to in the name of the service.
INVITATIONS_PER_HOUR = 30
# By person: it reads every row that names the person.
OWN_DATA_PER_HOUR = 5
# By person. Each leaves an event that the audit log keeps for good.
ACTS_PER_DAY = 50_000
SIGN_UPS_PER_MINUTE = 20
# Each leaves the row of a session for a day.
VISITS_PER_MINUTE = 120
RESETS_PER_MINUTE = 20
MAILS_PER_HOUR = 5
ACCOUNT_CHANGES_PER_HOUR = 60


@dataclass(frozen=True, slots=True)
class Limiter:
    """At most `most()` of `unit` within a window of one payer.

    `payer`: who fills a counter. `refused`: who is refused while it is full, at most for `per`.
    `reason`: the sentence of the refusal, with `{most}`. `is_exact`: each is forgotten a window
    after it came; else two counters estimate the number, where a window has too many to keep.
    `is_kept_while_away`: counted in each web process while the cache is away; else not counted.
    """

    name: str
    unit: str
    most: Callable[[], int]
    per: Literal["minute", "hour", "day"]
    payer: str
    refused: str
    reason: str
    setting: str = ""
    is_exact: bool = True
    is_kept_while_away: bool = True

    @property
    def window_s(self) -> int:
        """Seconds."""
        return WINDOW_S[self.per]

    @property
    def id(self) -> str:
        """Its name with its window, such as `uploads_per_minute`."""
        return f"{self.name}_per_{self.per}"

    @property
    def sentence(self) -> str:
        """Why a request is refused."""
        return self.reason.format(most=f"{self.most():,}")


def _of_setting(name: str) -> Callable[[], int]:
    return lambda: int(getattr(settings, name))


UPLOADS = Limiter(
    "uploads",
    "uploads, parts and heartbeats",
    _of_setting("UPLOADS_PER_MINUTE"),
    "minute",
    "one token, or one signed-in user",
    "the same token or user",
    "More than {most} uploads, parts and heartbeats came from you within a minute.",
    setting="UPLOADS_PER_MINUTE",
    is_kept_while_away=False,
)
REQUESTS = Limiter(
    "requests",
    "other requests of the API",
    _of_setting("REQUESTS_PER_MINUTE"),
    "minute",
    "one token, or one signed-in user; one network for requests without valid credentials",
    "the same token or user; requests of the network without valid credentials",
    "More than {most} requests came from you within a minute.",
    setting="REQUESTS_PER_MINUTE",
    is_exact=False,
    is_kept_while_away=False,
)
PREVIEWS = Limiter(
    "previews",
    "previews",
    _of_setting("PREVIEWS_PER_MINUTE"),
    "minute",
    "one user, with all tokens of the user",
    "the same user",
    "More than {most} previews came from you within a minute.",
    setting="PREVIEWS_PER_MINUTE",
)
TRIES = Limiter(
    "tries",
    "previews without an account",
    _of_setting("TRIES_PER_MINUTE"),
    "minute",
    "one network",
    "previews of the network without an account",
    "More than {most} previews came from your network within a minute.",
    setting="TRIES_PER_MINUTE",
)
LEAK_REPORTS = Limiter(
    "leak_reports",
    "reports of leaked tokens, of up to 100 tokens each",
    _of_setting("LEAK_REPORTS_PER_MINUTE"),
    "minute",
    "one network",
    "reports of the network",
    "More than {most} reports came from your network within a minute.",
    setting="LEAK_REPORTS_PER_MINUTE",
)
REPORTS = Limiter(
    "reports",
    "reports about public content",
    _of_setting("REPORTS_PER_HOUR"),
    "hour",
    "one network",
    "reports of the network",
    "More than {most} reports came from your network within an hour.",
    setting="REPORTS_PER_HOUR",
)
OWN_DATA = Limiter(
    "own_data",
    "downloads of one's own data",
    lambda: OWN_DATA_PER_HOUR,
    "hour",
    "one user",
    "the same user",
    "You downloaded your data more than {most} times within an hour.",
)
INVITATIONS = Limiter(
    "invitations",
    "invitations by mail",
    lambda: INVITATIONS_PER_HOUR,
    "hour",
    "one user",
    "the same user",
    "You sent more than {most} invitations within an hour.",
)
ACTS = Limiter(
    "acts",
    "acts that the audit log keeps",
    lambda: ACTS_PER_DAY,
    "day",
    "one user, with all tokens of the user",
    "the same user; taking access away is never refused",
    "You did more than {most} things that the audit log records within a day.",
    is_exact=False,
    is_kept_while_away=False,
)
SIGN_UPS = Limiter(
    "sign_ups",
    "sign-up forms",
    lambda: SIGN_UPS_PER_MINUTE,
    "minute",
    "one invitation, or one network without an invitation",
    "sign-ups with the invitation, or of the network without one",
    "More than {most} sign-up forms came with your invitation, or from your network, within a "
    "minute.",
)
VISITS = Limiter(
    "visits",
    "share links and invitations, opened in browsers without a session",
    lambda: VISITS_PER_MINUTE,
    "minute",
    "one network",
    "the same links of the network, in browsers without a session",
    "More than {most} links were opened from your network within a minute.",
)
RESETS = Limiter(
    "password_resets",
    "forms that ask for a new password",
    lambda: RESETS_PER_MINUTE,
    "minute",
    "one network",
    "the same form from the network",
    "More than {most} of these forms came from your network within a minute.",
)
MAILS = Limiter(
    "account_mails",
    "mails of one kind to one address (reset, confirmation, sign-up) that a network asks for; ten "
    "times as many from all networks together",
    lambda: MAILS_PER_HOUR,
    "hour",
    "one network for the address; all who type the address",
    "nobody: no further mail is sent that this network, or where ten did so all, ask for",
    "More than {most} such mails were sent within an hour.",
)
ACCOUNT_CHANGES = Limiter(
    "account_changes",
    "changes of one's own password and addresses",
    lambda: ACCOUNT_CHANGES_PER_HOUR,
    "hour",
    "one session",
    "the same session",
    "You sent more than {most} changes of your account within an hour.",
)
FAILED_SIGN_INS = Limiter(
    "failed_sign_ins",
    "wrong passwords and codes",
    _of_setting("FAILED_SIGN_INS_PER_HOUR"),
    "hour",
    "one network, in browsers that are new to the account",
    "sign-ins of the network in browsers that are new to the account",
    "More than {most} wrong passwords or codes came from your network within an hour.",
    setting="FAILED_SIGN_INS_PER_HOUR",
)
FAILED_SIGN_INS_PER_ACCOUNT = Limiter(
    "failed_sign_ins_per_account",
    "wrong passwords, or codes, for one account",
    _of_setting("FAILED_SIGN_INS_PER_ACCOUNT"),
    "hour",
    "one network for the account, in browsers that are new to the account; or one browser that "
    "signed in to it before; or one session that is asked again",
    "sign-ins to this account of the network in new browsers, or of that browser; or the session",
    "More than {most} wrong passwords or codes for this account came from you within an hour.",
    setting="FAILED_SIGN_INS_PER_ACCOUNT",
)
FAILED_SIGN_INS_IN_NEW_BROWSERS = Limiter(
    "failed_sign_ins_in_new_browsers",
    "wrong passwords, or codes, for one account from everywhere",
    _of_setting("FAILED_SIGN_INS_IN_NEW_BROWSERS"),
    "hour",
    "all browsers that are new to the account",
    "sign-ins to the account in new browsers; a browser that signed in before, or that opened the "
    "mail for a new password or a sign-in link, is never refused",
    "More than {most} wrong passwords or codes for this account came from browsers that never "
    "signed in to it, within an hour.",
    setting="FAILED_SIGN_INS_IN_NEW_BROWSERS",
)

LIMITERS = (
    UPLOADS,
    REQUESTS,
    PREVIEWS,
    TRIES,
    LEAK_REPORTS,
    REPORTS,
    OWN_DATA,
    INVITATIONS,
    ACTS,
    SIGN_UPS,
    VISITS,
    RESETS,
    MAILS,
    ACCOUNT_CHANGES,
    FAILED_SIGN_INS,
    FAILED_SIGN_INS_PER_ACCOUNT,
    FAILED_SIGN_INS_IN_NEW_BROWSERS,
)
