"""How each exception of Loadsheet is answered over HTTP: one table, for the API and for pages.

An exception has the answer of its class, else that of its nearest base in `backend.errors`.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.utils.text import slugify

from backend.accounts.mail.outgoing_mail import MailAway
from backend.accounts.tokens.tokens import TokenRefused
from backend.accounts.workspace.invitations import InvitationRefused
from backend.accounts.workspace.members import MemberRefused
from backend.accounts.workspace.quotas import MembersFull
from backend.accounts.workspace.takedowns import TakenDown, TakenDownByLaw
from backend.accounts.workspace.workspaces import WorkspaceRefused
from backend.alerts.lifecycle import AlertEnded, BadState
from backend.alerts.rules import BadRule, RuleRefused
from backend.analysis.loading.viewer_slots import RETRY_AFTER_S as ANSWER_AFTER_S
from backend.analysis.loading.viewer_slots import AnswersBusy, TooManyAnswers, TooManyComparisons
from backend.analysis.pages.gate.describe import StillMeasured
from backend.analysis.query.compare_query import QueryError
from backend.database_faults import is_changed_meanwhile, is_database_away, is_database_busy
from backend.deliveries.channels import BadChannel, ChannelRefused
from backend.errors import (
    Allowance,
    Conflict,
    InvalidInput,
    LoadsheetError,
    NotFound,
    TooEarly,
    TooLarge,
    TooMany,
    Unprocessable,
)
from backend.feeds.tokens import TooManyTokens
from backend.fleet.sessions import JoinRefused
from backend.ingest.artefacts.part_refusals import (
    PartConflict,
    PartDamaged,
    PartsDiffer,
    PartsMissing,
    PartTooSmall,
)
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.ingest.quota.quota import RoomChanged, UploadsUsedUp, WorkspaceFull
from backend.ingest.receiving.receive import UploadConflict, UploadTrashed
from backend.ingest.removing.retention import RawOutputRemoved
from backend.runs.amending.dismissals import DismissalRefused
from backend.runs.amending.editing import CorrectionRefused
from backend.runs.amending.merging import MergeRefused
from backend.runs.amending.renaming import RenameRefused
from backend.runs.catalogue.run_order import BadOrder
from backend.runs.catalogue.search import SearchError
from backend.runs.database.cursors import BadCursor
from backend.runs.recording.observations import ObservationConflict
from backend.runs.recording.refusals import RunElsewhere
from backend.runs.registry.registry import WAIT_AGAIN_S, NamesBusy
from backend.sharing.badge import NoSuchSeries
from backend.sharing.directory import BadSearch
from backend.sharing.drawing import BusyDrawing, CannotDraw
from backend.sharing.edits import EditRefused
from backend.sharing.freezing import NothingToFreeze
from backend.sharing.secret_check import SecretShared
from backend.storage import FULL, StorageAway, StorageFull
from backend.transfer.exporting import ExportRefused, NoRoomForArchive
from backend.untrusted.body_refusals import BadAddress, BodyTooSlow
from backend.untrusted.json.json_refusals import JsonRefused, JsonTooLarge
from backend.untrusted.sandbox.fair_slots import RETRY_AFTER_S, Busy
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.secrets.cleaner_refusals import CleanerInterrupted
from backend.untrusted.secrets.rewriting import CannotClean, TooLargeToClean

CONTENT_TYPE = "application/problem+json"
CHALLENGE = 'Bearer realm="Loadsheet"'
SCHEMA_HINT = "See /api/v1/openapi.json for what this endpoint takes."
NOT_FOUND_HINT = "Check the link, and that the token or session belongs to the right workspace."
WAIT_HINT = "Wait for as long as Retry-After says, then try again."
_JSON = "Correct the JSON and send it again; GET /api/v1/limits lists the limits."
_NEW_ID = "Give a new measurement a new id."
_AGAIN = "No part of it was stored. Send the same request again after the time Retry-After gives."
_MAKE_ROOM = (
    "No part of it was stored. Ask the operator of this service to make room, then send it again."
)
_DELETE = (
    "Nothing was stored. Delete runs for good that you no longer need (runs in the trash count), "
    "or ask the operator of this service for more room (WORKSPACE_MAX_BYTES)."
)
_TOMORROW = (
    "Nothing was stored. Send it again after the time Retry-After gives, or ask the operator of "
    "this service for more uploads a day (UPLOADS_PER_DAY)."
)
_MORE_MEMBERS = (
    "Remove members or revoke invitations that are no longer needed, or ask the operator of this "
    "service for more (WORKSPACE_MAX_MEMBERS)."
)
_SET_THE_CLOCK = (
    "Nothing was stored. Set the clock of the machine that measured, or send it again after the "
    "time Retry-After gives."
)
_OTHER_FIGURES = "The page, its JSON and its CSV have the same numbers."
_FORM = "Go back, correct the form and send it again."
_LINK = "We don't understand this link"
_LINK_HINT = "Correct the address."
_RESULT_SET = "The result set was not saved"


@dataclass(frozen=True, slots=True)
class Answer:
    """How an error is answered.

    `title`: the stable code of the API is made from it, so it is never reworded. `sentence`
    replaces the message of an error that is for the log only. `page_title` and
    `page_hint`: what a person reads, who cannot act on the words for programs.
    """

    status: int
    title: str
    hint: str
    retry_after_s: int | None = None
    sentence: str = ""
    page_title: str = ""
    page_hint: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "page_title", self.page_title or self.title)
        object.__setattr__(self, "page_hint", self.page_hint or self.hint)

    @property
    def is_for_the_log(self) -> bool:
        """Whether the error's message is only for the people who run the service."""
        return bool(self.sentence)


def _away(title: str, retry_after_s: int, sentence: str = "") -> Answer:
    """The answer to a request that works when it is sent again as it is."""
    for_people = f"Nothing was saved. Wait {retry_after_s} seconds, then send it again."
    return Answer(503, title, _AGAIN, retry_after_s, sentence, page_hint=for_people)


STORAGE_FULL = Answer(
    507, "Storage full", _MAKE_ROOM, 60, "There is no room for raw files at the moment."
)
DATABASE_AWAY = _away("Database away", 5, "The database does not answer at the moment.")
DATABASE_BUSY = _away(
    "Busy", 2, "Other requests are changing the same data, and this one could not be done in time."
)
CHANGED_MEANWHILE = Answer(
    409,
    "Changed meanwhile",
    "Nothing was changed. Look at what is there now, and send the request again if it still fits.",
    sentence="Another request deleted or changed what this one refers to, at the same time.",
    page_hint="Nothing was saved. Reload the page, and send the form again if it still fits.",
)
_BAD_QUERY = Answer(
    400, "Bad query", "Correct or leave out this field.", page_title=_LINK, page_hint=_LINK_HINT
)

ANSWERS: dict[type[Exception], Answer] = {
    # The families
    InvalidInput: Answer(
        400, "Bad request", SCHEMA_HINT, page_title="Nothing was saved", page_hint=_FORM
    ),
    NotFound: Answer(404, "Not found", NOT_FOUND_HINT),
    Conflict: Answer(409, "Conflict", "Nothing was changed."),
    TooLarge: Answer(413, "Too large", "Compress it or split it."),
    Unprocessable: Answer(422, "Cannot be used", "Nothing was stored."),
    TooMany: Answer(429, "Too many requests", WAIT_HINT),
    # Agents send an upload with this status again, and keep it until then.
    TooEarly: Answer(
        425,
        "Time in the future",
        _SET_THE_CLOCK,
        page_hint="Nothing was saved. Correct the time, or send it again when that time has come.",
    ),
    TooManyAnswers: Answer(429, "Too many large answers", WAIT_HINT),
    TooManyComparisons: Answer(429, "Too many comparisons", WAIT_HINT),
    # Who asks
    TokenRefused: Answer(401, "Token refused", ""),
    # What is read before a view
    BadAddress: Answer(400, "Bad address", "Send the path alone."),
    BodyTooSlow: Answer(
        408, "Too slow", "Send it again, over a faster connection or in smaller requests."
    ),
    # What an upload carries
    JsonRefused: Answer(400, "Bad request", _JSON, page_hint="Correct the form and send it again."),
    JsonTooLarge: Answer(413, "Too large", _JSON),
    EnvelopeError: Answer(400, "Bad envelope", "Nothing was stored. Correct it and send it again."),
    UploadConflict: Answer(409, "Id used before", _NEW_ID),
    UploadTrashed: Answer(
        409,
        "In the trash",
        "Restore the run from the trash of its workspace, or delete it for good and send it again.",
    ),
    RunElsewhere: Answer(409, "Id used before", _NEW_ID),
    ObservationConflict: Answer(409, "Id used before", _NEW_ID),
    PartConflict: Answer(409, "Sent before", _NEW_ID),
    PartTooSmall: Answer(400, "Too small", "Send fewer and larger parts."),
    PartDamaged: Answer(408, "Not whole", "Send the part again."),
    PartsMissing: Answer(424, "Parts are missing", "Send these parts, then this request again."),
    PartsDiffer: Answer(
        422, "Parts differ from the whole", "The parts were deleted. Send them again."
    ),
    WorkspaceFull: Answer(507, "Workspace full", _DELETE, 600),
    UploadsUsedUp: Answer(429, "Uploads of the day used up", _TOMORROW),
    RoomChanged: _away("Busy", 5),
    CannotClean: Answer(
        422, "Cannot be cleaned", "Send it unpacked, and as several files if it is large."
    ),
    TooLargeToClean: Answer(
        413, "Too large", "Send it unpacked, and as several files if it is large."
    ),
    CleanerInterrupted: _away("Busy", 5),
    ParserFailed: Answer(503, "Busy", "Try again in a minute.", 60),
    # What is asked for and gone
    TakenDown: Answer(410, "Taken down", ""),
    TakenDownByLaw: Answer(451, "Taken down", ""),
    RawOutputRemoved: Answer(
        410, "Raw output removed", "The figures that were read from it are kept, with its SHA-256."
    ),
    ExportRefused: Answer(
        409, "Not now", "Follow the export under /api/v1/exports.", page_hint="Go back and reload."
    ),
    NoRoomForArchive: Answer(507, "Storage full", _MAKE_ROOM, 60),
    # What a query asks for
    QueryError: _BAD_QUERY,
    SearchError: _BAD_QUERY,
    BadSearch: _BAD_QUERY,
    BadOrder: _BAD_QUERY,
    BadCursor: Answer(
        400,
        "Bad cursor",
        "Follow next unchanged, or leave out after.",
        page_title=_LINK,
        page_hint=_LINK_HINT,
    ),
    StillMeasured: Answer(
        409, "Still measured", "Wait until the run is complete, then ask again.", 10
    ),
    NoSuchSeries: Answer(400, "No such series", "Correct or leave out series."),
    # What a form changes
    NothingToFreeze: Answer(
        400,
        "Nothing to freeze",
        "Widen the query, or upload runs first.",
        page_title=_RESULT_SET,
        page_hint=_FORM,
    ),
    EditRefused: Answer(
        409, "Not changed", "Nothing was changed.", page_title=_RESULT_SET, page_hint=_FORM
    ),
    SecretShared: Answer(
        400,
        "A secret would be shared",
        "Remove the secret from this text, and revoke it where it was made. Then share again.",
    ),
    MergeRefused: Answer(
        400,
        "The names were not changed",
        "Choose source and target among the names in use.",
        page_hint="Go back, choose another name and send it again.",
    ),
    RenameRefused: Answer(
        400, "Nothing was renamed", "Go back, choose another name and send it again."
    ),
    CorrectionRefused: Answer(
        400,
        "Nothing was corrected",
        "Correct this field and send it again.",
        page_hint=_FORM,
    ),
    DismissalRefused: Answer(
        400, "Nothing was dismissed", "Go back, give a reason, and send it again."
    ),
    InvitationRefused: Answer(
        410,
        "Invitation refused",
        "Ask the person who sent it for a new one.",
        page_title="This invitation does not work",
    ),
    MemberRefused: Answer(409, "Members not changed", "Nothing was changed."),
    MembersFull: Answer(400, "No more members", _MORE_MEMBERS),
    WorkspaceRefused: Answer(400, "Nothing was saved", _FORM),
    AlertEnded: Answer(409, "Alert has ended", "Nothing was changed."),
    BadState: Answer(400, "Nothing was saved", _FORM),
    BadRule: Answer(400, "The rule was not saved", "Correct this field and send it again."),
    RuleRefused: Answer(409, "The rule was not saved", "Nothing was changed."),
    BadChannel: Answer(400, "The channel was not saved", "Correct this field and send it again."),
    ChannelRefused: Answer(409, "The channel was not saved", "Nothing was changed."),
    TooManyTokens: Answer(409, "No feed token was made", "Nothing was changed."),
    JoinRefused: Answer(409, "No place", "Start a session with another name."),
    # What cannot be used now
    Busy: _away("Busy", RETRY_AFTER_S),
    NamesBusy: _away("Busy", WAIT_AGAIN_S),
    AnswersBusy: Answer(503, "Busy", WAIT_HINT, ANSWER_AFTER_S),
    StorageAway: _away(
        "Storage away", 30, "The storage of raw files cannot be used at the moment."
    ),
    StorageFull: STORAGE_FULL,
    MailAway: Answer(
        503,
        "Mail not sent",
        "Check the address, and try again in a few minutes. If you have just made an account, sign "
        "in with it: the mail is sent again then.",
        60,
        "The mail server did not take the mail.",
    ),
    BusyDrawing: Answer(503, "No image available", "Try again in a few seconds.", 2),
    CannotDraw: Answer(503, "No image available", _OTHER_FIGURES),
}


def seconds_to_wait(error: LoadsheetError, answer: Answer) -> int | None:
    """When the same request may succeed; None where waiting does not help."""
    return error.wait_s if isinstance(error, TooEarly | TooMany) else answer.retry_after_s


def headers_of(error: LoadsheetError, answer: Answer) -> dict[str, str]:
    """`Retry-After` where waiting helps, and `RateLimit` where an allowance is used up."""
    wait_s = seconds_to_wait(error, answer)
    headers = {} if wait_s is None else {"Retry-After": str(wait_s)}
    if isinstance(error, TooMany) and (allowance := error.allowance) is not None:
        headers |= rate_limit_headers(allowance, remaining=0, reset_s=error.wait_s)
    return headers


def set_headers(response: HttpResponseBase, headers: Mapping[str, str]) -> None:
    """Set each of the headers."""
    for name, value in headers.items():
        response[name] = value


def rate_limit_headers(allowance: Allowance, *, remaining: int, reset_s: int) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers)."""
    return {
        "RateLimit-Policy": f'"{allowance.name}";q={allowance.most};w={allowance.window_s}',
        "RateLimit": f'"{allowance.name}";r={remaining};t={reset_s}',
    }


def hint_for_people(error: LoadsheetError, answer: Answer) -> str:
    """What a person can do: after how long to try again, where waiting is what helps."""
    hint = error.hint or answer.page_hint
    if not isinstance(error, TooMany):
        return hint
    wait = f"Try again in {time_text(error.wait_s)}."
    return f"{wait} {error.hint}" if error.hint else wait


def time_text(seconds: int) -> str:
    """A wait as people say it: seconds below two minutes, then minutes, then hours."""
    if seconds < 120:
        return "1 second" if seconds == 1 else f"{seconds} seconds"
    if seconds < 2 * 3600:
        return f"{math.ceil(seconds / 60)} minutes"
    return f"{math.ceil(seconds / 3600)} hours"


def answer_to(error: BaseException | None) -> Answer | None:
    """The answer to `error`; None for a fault of the service, which is a 500."""
    if is_database_away(error):
        return DATABASE_AWAY
    # Also at COMMIT, behind the last line of whoever wrote: there PostgreSQL looks at references.
    if is_database_busy(error):
        return DATABASE_BUSY
    if is_changed_meanwhile(error):
        return CHANGED_MEANWHILE
    # The temporary file of a large request body.
    if isinstance(error, OSError) and error.errno in FULL:
        return STORAGE_FULL
    return next((ANSWERS[base] for base in type(error).__mro__ if base in ANSWERS), None)


def problem_response(
    status: int, title: str, detail: str, *, hint: str = "", **extra: Any
) -> HttpResponse:
    """One problem as a response, for programs. `extra`: further members."""
    body: dict[str, Any] = {
        "type": f"urn:loadsheet:problem:{slugify(title)}",
        "code": slugify(title),
        "title": title,
        "status": status,
        "detail": detail,
        "hint": hint,
    }
    body.update(extra)
    response = HttpResponse(json.dumps(body), content_type=CONTENT_TYPE, status=status)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = CHALLENGE
    return response
