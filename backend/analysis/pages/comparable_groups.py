"""The groups of a workspace within which servers can be compared: one workload, like conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.analysis.pages.question_check import QuestionCheck
from backend.analysis.pages.workspace_cells import (
    Conditions,
    Query,
    WorkspaceCells,
    load_workspace_cells,
)

MAX_GROUPS = 8


@dataclass(frozen=True, slots=True)
class ComparableGroup:
    """`label`: such as `json · wrk · 6 servers`. `query`: the fields of its comparison."""

    label: str
    servers: int
    query: Query


def list_groups(workspace_id: UUID) -> list[ComparableGroup]:
    """The groups of the most servers first, of equals the newest; one where all can be compared."""
    measured = load_workspace_cells(workspace_id)
    if measured is None:
        return []
    servers = measured.servers
    largest = sorted(servers, key=lambda key: -len(servers[key]))[:MAX_GROUPS]
    return [_group(measured, key, len(servers[key])) for key in largest]


def group_to_open(groups: Sequence[ComparableGroup], check: QuestionCheck) -> ComparableGroup:
    """The first group of several servers that can be ranked, else the first of all."""
    several = (group for group in groups if group.servers > 1)
    return next((group for group in several if not check.offer(group.query).why_not), groups[0])


def _group(measured: WorkspaceCells, key: tuple[str, Conditions], servers: int) -> ComparableGroup:
    workload, conditions = key
    group = measured.under(workload, conditions)
    # The client is left out: mostly it is the host, or there is one.
    chosen = group.condition_filters
    parts = [workload, conditions[2] or "unknown tool"]
    parts += [chosen[field] for field in ("host", "loop") if field in chosen]
    count = f"{servers} server{'' if servers == 1 else 's'}"
    return ComparableGroup(" · ".join([*parts, count]), servers, group.query(()))
