"""Result sets: saving a comparison under a link, live or frozen, and changing it later."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any
from uuid import UUID

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts.models import Token, User, Workspace
from backend.accounts.workspace import access
from backend.analysis.loading.viewer_slots import hold_slot
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.timestamps import instant
from backend.api.protocol.auth import actor_of, author_of, required_actor, viewer_name
from backend.api.protocol.errors import Problem, or_not_found, sign_in_needed
from backend.api.protocol.idempotency import idempotent
from backend.api.protocol.paging import ONLY_WORKSPACE, list_operation, newest_first
from backend.api.protocol.parameters import FIELDS, asked_parts, expand_parameter, only_asked
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import validated
from backend.api.protocol.workspaces import refuse_other_question, writable_workspace
from backend.api.results.result_set_json import (
    ChangesSerializer,
    EditSerializer,
    KeepSerializer,
    ReadResultSetSerializer,
    ResultSetSerializer,
    WithdrawSerializer,
)
from backend.api.runs.runs import workspaces_asked
from backend.runs.database.cursors import Page
from backend.sharing.differences import Difference, differences_since
from backend.sharing.edits import edit, revoke, supersede, withdraw
from backend.sharing.freezing import Description, freeze, save_live
from backend.sharing.models import Kind, ResultSet, Visibility
from backend.sharing.newer_runs import (
    count_newer_runs,
    find_newer_runs,
    may_tell_newer_runs,
)
from backend.sharing.readers import readers_of_all_runs, takedowns_of_result_sets
from backend.sharing.reading import Reading, find_result_set

FIGURES = "figures"


class ResultSetList(APIView):
    @list_operation("result_set_list", "result_sets", ResultSetSerializer, ONLY_WORKSPACE)
    def get(self, request: Request) -> tuple[Page[ResultSet], dict[str, Any]]:
        """The newest result sets, revoked and withdrawn ones included, each with its state."""
        ids = workspaces_asked(request)
        rows = ResultSet.objects.filter(workspace__in=ids)
        related = rows.select_related("workspace", "author", "superseded_by")
        related = related.defer("snapshot", "superseded_by__snapshot", "superseded_by__notes")
        page = newest_first(request, related, "created_at")
        return page, {
            "workspaces": ids,
            "newer_runs": find_newer_runs(
                [each for each in page.rows if not each.is_gone], viewer=viewer_name(request)
            ),
            "takedowns": takedowns_of_result_sets(page.rows),
            "readers_of_runs": readers_of_all_runs(each.workspace for each in page.rows),
        }

    # A frozen set is of one state of the database.
    @partial(idempotent, in_one_state=True)
    @operation(
        "result_set_create",
        (401, 404, 507),
        body=KeepSerializer,
        answer=ResultSetSerializer,
        status=201,
    )
    def post(self, request: Request) -> tuple[ResultSet, dict[str, Any]]:
        """Keep a comparison under a link: its figures as they are now, or its question."""
        actor = required_actor(request)
        asked = validated(KeepSerializer, request)
        workspace = writable_workspace(actor, asked.get("workspace"))
        refuse_other_question(workspace, asked["query"])
        hold_slot(viewer_name(request))
        return _with_context(request, _save(actor, workspace, asked))


def _save(actor: Token | User, workspace: Workspace, asked: dict[str, Any]) -> ResultSet:
    query = replace(CompareQuery.parse(asked["query"]), workspace=workspace.slug)
    description = Description(
        title=asked["title"],
        notes=asked["notes"],
        visibility=Visibility(asked["visibility"]),
        expires_at=asked["expires_at"],
    )
    save: Callable[..., ResultSet] = freeze if asked["kind"] == Kind.FROZEN else save_live
    return save(
        query,
        workspace=workspace,
        author=author_of(actor),
        description=description,
        actor=actor,
    )


def _readable(request: Request, link: UUID) -> ResultSet:
    actor = actor_of(request)
    result_set = find_result_set(link, workspace_ids=access.workspace_ids_of(actor))
    if result_set is None and actor is None:
        raise sign_in_needed()
    return or_not_found(result_set)


def _manageable(request: Request, link: UUID) -> ResultSet:
    actor = required_actor(request)
    result_set = _readable(request, link)
    or_not_found(access.may_write(actor, result_set.workspace_id))
    return result_set


def _with_context(request: Request, result_set: ResultSet) -> tuple[ResultSet, dict[str, Any]]:
    """The set, and what its serializer reads beside it."""
    actor = actor_of(request)
    readable = access.readable_ids(actor)
    is_told = not result_set.is_gone and may_tell_newer_runs(result_set, readable)
    counted = [result_set] if is_told else []
    # What was changed already is not refused.
    is_change = request.method not in SAFE_METHODS
    return result_set, {
        "workspaces": access.workspace_ids_of(actor),
        "takedowns": takedowns_of_result_sets([result_set]),
        "newer_runs": count_newer_runs(counted)
        if is_change
        else find_newer_runs(counted, viewer=viewer_name(request)),
    }


def _gone(result_set: ResultSet) -> Problem:
    """The answer for a set that was revoked or withdrawn, the same for every reader."""
    reason, since = result_set.end
    return Problem(
        410,
        "Gone",
        reason,
        hint="A copy of its JSON is genuine if it has this sha256.",
        since=instant(since),
        sha256=result_set.sha256 or None,
    )


class ResultSetDetail(APIView):
    @operation(
        "result_set_read",
        (401, 404, 410),
        answer=ReadResultSetSerializer,
        parameters=[FIELDS, expand_parameter(FIGURES)],
    )
    def get(self, request: Request, link: UUID) -> Response:
        """Its title, notes, state, hash and links; public and unlisted ones need no token."""
        result_set = _readable(request, link)
        if result_set.is_gone:
            raise _gone(result_set)
        parts = asked_parts(request, FIGURES)
        result_set, context = _with_context(request, result_set)
        shown: dict[str, Any] = ResultSetSerializer(result_set, context=context).data
        if FIGURES in parts:
            shown[FIGURES] = Reading(result_set, viewer_name(request)).plain_figures
        response = Response(only_asked(request, [shown])[0])
        if result_set.visibility == Visibility.UNLISTED:
            response["X-Robots-Tag"] = "noindex"
        return response

    @operation(
        "result_set_edit", (401, 404, 409, 507), body=EditSerializer, answer=ResultSetSerializer
    )
    def patch(self, request: Request, link: UUID) -> tuple[ResultSet, dict[str, Any]]:
        """Change what is said of it. The snapshot of a frozen one stays as it is."""
        result_set = _manageable(request, link)
        asked = validated(EditSerializer, request)
        if "superseded_by" in asked:
            supersede(result_set, _newer(asked.pop("superseded_by"), result_set))
        edit(result_set, **asked)
        return _with_context(request, result_set)


def _newer(link: UUID | None, result_set: ResultSet) -> ResultSet | None:
    if link is None:
        return None
    newer = ResultSet.objects.filter(link=link, workspace_id=result_set.workspace_id).first()
    if newer is None:
        raise Problem(
            400,
            "No such result set",
            f"superseded_by: got {link}, expected the id of a result set of this workspace.",
            hint="Take it from the list at /api/v1/result-sets.",
            field="superseded_by",
        )
    return newer


class ResultSetWithdraw(APIView):
    """Leaving a tombstone."""

    @operation(
        "result_set_withdraw", (401, 404, 409), body=WithdrawSerializer, answer=ResultSetSerializer
    )
    def post(self, request: Request, link: UUID) -> tuple[ResultSet, dict[str, Any]]:
        """For good: every address answers 410 with the reason and the date from now on."""
        result_set = _manageable(request, link)
        withdraw(result_set, validated(WithdrawSerializer, request)["reason"])
        return _with_context(request, result_set)


class ResultSetRevoke(APIView):
    """A new address."""

    @operation("result_set_revoke", (401, 404, 409), body=None, answer=ResultSetSerializer)
    def post(self, request: Request, link: UUID) -> tuple[ResultSet, dict[str, Any]]:
        """Give it a new id and new addresses; the old ones lead nowhere from now on."""
        result_set = _manageable(request, link)
        revoke(result_set)
        return _with_context(request, result_set)


class ResultSetChanges(APIView):
    @operation("result_set_changes", (401, 404, 410), answer=ChangesSerializer)
    def get(self, request: Request, link: UUID) -> dict[str, Any]:
        """Ask its question again of the same runs. For members of its workspace: it reads runs."""
        actor = required_actor(request)
        result_set = _readable(request, link)
        is_own = result_set.workspace_id in access.workspace_ids_of(actor)
        or_not_found(is_own and result_set.is_frozen)
        if result_set.is_gone:
            raise _gone(result_set)
        differences = differences_since(result_set, viewer=viewer_name(request))
        return {
            "changed": not differences.is_empty,
            "before": _headline(differences.before),
            "after": None if differences.after is None else _headline(differences.after),
            "missing_runs": differences.missing_runs,
            "figures": [_figure(difference) for difference in differences.figures],
            "gone": [asdict(place) for place in differences.gone],
            "new": [asdict(place) for place in differences.new],
            "renamed": [
                {"before": before, "after": after} for before, after in differences.renamed
            ],
        }


def _headline(headline_and_status: tuple[str, str]) -> dict[str, str]:
    headline, status = headline_and_status
    return {"finding": headline, "outcome": status}


def _figure(difference: Difference) -> dict[str, Any]:
    ratio = difference.ratio
    return {
        **asdict(difference.place),
        "metric": difference.metric,
        "before": difference.before,
        "after": difference.after,
        "ratio": None if ratio is None else ratio.value,
        "low": None if ratio is None else ratio.low,
        "high": None if ratio is None else ratio.high,
        "verdict": None if ratio is None else ratio.verdict,
        "why": None if ratio is None else ratio.why,
    }
