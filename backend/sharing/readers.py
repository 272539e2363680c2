"""Who may read result sets and the runs of a workspace, and why, in sentences."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.workspace.takedowns import find_takedowns, takedowns_of_workspaces
from backend.accounts.workspace.workspace_links import is_unlisted, working_links
from backend.sharing.models import ResultSet, SharedRun, Visibility

_OF_RESULT_SET = {
    Visibility.PRIVATE: "Members of the workspace may read it, because it is private.",
    Visibility.UNLISTED: "Everyone who has the link may read it, because it is unlisted.",
    Visibility.PUBLIC: "Everyone may read it, because it is public.",
}
_OF_RUNS = {
    Visibility.PRIVATE: "Only members may read the runs, because the workspace is private.",
    Visibility.UNLISTED: "Everyone who has the link of the workspace may read the runs, because "
    "the workspace is unlisted.",
    Visibility.PUBLIC: "Everyone may read the runs, because the workspace is public.",
}
_TAKEN_DOWN = "Only members may read the runs, because the operator took down the workspace."
_EXCEPTIONS = "More people may read runs that are shared by themselves."
# By what was taken down: why only members read a thing.
CLOSED = {
    kind: f"Only members of the workspace may read it, because the operator took down the {kind}."
    for kind in Thing
}


def readers_of(result_set: ResultSet, readers_of_runs: str, takedown: Takedown | None) -> str:
    """Who may read the result set now, and why. `readers_of_runs`: those of its workspace;
    `takedown`: by which it or its workspace was taken down."""
    if result_set.is_gone:
        return f"Nobody, because it is {result_set.state}."
    if takedown is None:
        return f"{_OF_RESULT_SET[Visibility(result_set.visibility)]} {readers_of_runs}"
    return f"{CLOSED[Thing(takedown.kind)]} {readers_of_runs}"


def takedowns_of_result_sets(result_sets: Iterable[ResultSet]) -> dict[UUID, Takedown]:
    """By result set, its takedown or that of its workspace; without those that stand."""
    return find_takedowns(Thing.RESULT_SET, {each.pk: each.workspace_id for each in result_sets})


def readers_of_runs(workspace: Workspace) -> str:
    """Who may read the runs of the workspace now, and why."""
    return readers_of_all_runs([workspace])[workspace.pk]


def readers_of_all_runs(workspaces: Iterable[Workspace]) -> Mapping[UUID, str]:
    """By workspace, who may read its runs now, and why."""
    by_id = {workspace.pk: workspace for workspace in workspaces}
    links = working_links().filter(workspace__in=list(by_id))
    unlisted = set(links.values_list("workspace", flat=True))
    shared = SharedRun.objects.filter(run__workspace__in=list(by_id), run__trashed_at=None)
    excepted = set(shared.values_list("run__workspace", flat=True).distinct())
    taken_down = takedowns_of_workspaces(by_id.values())
    return {
        id_: _TAKEN_DOWN
        if id_ in taken_down
        else _sentence(_visibility(workspace, id_ in unlisted), has_exceptions=id_ in excepted)
        for id_, workspace in by_id.items()
    }


def visibility_of(workspace: Workspace) -> Visibility:
    """That of the runs of the workspace which are not shared on their own."""
    return _visibility(workspace, is_unlisted(workspace))


def _visibility(workspace: Workspace, has_link: bool) -> Visibility:
    if workspace.is_public:
        return Visibility.PUBLIC
    return Visibility.UNLISTED if has_link else Visibility.PRIVATE


def _sentence(visibility: Visibility, *, has_exceptions: bool) -> str:
    is_excepted = has_exceptions and visibility != Visibility.PUBLIC
    return f"{_OF_RUNS[visibility]} {_EXCEPTIONS}" if is_excepted else _OF_RUNS[visibility]
