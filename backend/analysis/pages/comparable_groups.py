"""The groups of a workspace within which servers can be compared: one workload, like conditions."""

from __future__ import annotations

from collections import defaultdict
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
    query: Query


def list_groups(workspace_id: UUID, slug: str) -> list[ComparableGroup]:
    """The groups of the most servers first, of equals the newest; one where all can be compared.

    The largest group of several servers that can be ranked comes before all others.
    """
    measured = load_workspace_cells(workspace_id)
    if measured is None:
        return []
    servers: dict[tuple[str, Conditions], set[str]] = defaultdict(set)
    for cell in measured.every:
        servers[cell.workload, cell.conditions].add(cell.server)
    largest = sorted(servers, key=lambda key: -len(servers[key]))[:MAX_GROUPS]
    groups = [_group(measured, key, len(servers[key])) for key in largest]
    check = QuestionCheck(workspace_id, slug)
    several = sum(len(servers[key]) > 1 for key in largest)
    ranked = next((each for each in groups[:several] if not check.offer(each.query).why_not), None)
    return sorted(groups, key=lambda each: each is not ranked)


def _group(measured: WorkspaceCells, key: tuple[str, Conditions], servers: int) -> ComparableGroup:
    workload, conditions = key
    group = measured.under(workload, conditions)
    # The client is left out: mostly it is the host, or there is one.
    chosen = group.condition_filters
    parts = [workload, conditions[2] or "unknown tool"]
    parts += [chosen[field] for field in ("host", "loop") if field in chosen]
    count = f"{servers} server{'' if servers == 1 else 's'}"
    return ComparableGroup(" · ".join([*parts, count]), group.query(()))
