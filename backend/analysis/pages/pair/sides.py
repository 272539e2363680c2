"""The two sides of a pair: found by their ids, with the cells of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.loading.selection import NotVisible
from backend.analysis.pages.pair.answer import PairSide, SideKind
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.timestamps import instant
from backend.errors import InvalidInput
from backend.links import link_to, run_link
from backend.runs.catalogue.naming import run_name
from backend.runs.models import Run, Server
from backend.runs.tables.happening import happened_at

KINDS: dict[SideKind, type[Run] | type[Server]] = {"run": Run, "server": Server}


class NoPair(InvalidInput):
    """These two cannot be a pair; the message says why."""


@dataclass(frozen=True, slots=True)
class Side:
    """A run or a server of one version, with its measurements."""

    kind: SideKind
    row: Run | Server
    gathered: Gathered

    @property
    def run(self) -> Run | None:
        """The run, with its plan and the facts of its hosts; None for a server."""
        return self.row if isinstance(self.row, Run) else None

    @property
    def name(self) -> str:
        """`caddy 1.27.1 · json · wrk`; of a server, its name and version."""
        if isinstance(self.row, Server):
            return str(self.row)
        series = [cell.series for point in self.gathered.points for cell in point.cells]
        return run_name(
            (each.server.label for each in series),
            (each.workload.name for each in series),
            (each.tool for each in series),
        )

    def to_record(self) -> PairSide:
        row, points = self.row, self.gathered.points
        is_run = isinstance(row, Run)
        return PairSide(
            kind=self.kind,
            id=str(row.pk),
            name=self.name,
            url=run_link(row.pk) if is_run else link_to("server-page", row.workspace.slug, row.pk),
            started_at=instant(happened_at(row)) if isinstance(row, Run) else None,
            trials=sum(len(point.trials) for point in points),
            points=len(points),
        )


def read_side_ids(given: Mapping[str, str]) -> tuple[UUID, UUID]:
    """The ids `a` and `b` of a link. Raises NoPair."""
    ids = []
    for field in ("a", "b"):
        text = given.get(field, "")
        try:
            ids.append(UUID(text))
        except ValueError:
            got = f"got “{text[:60]}”" if text else "it is missing"
            raise NoPair(
                f"{field}: {got}, expected the id of a run or a server (a UUID)."
            ) from None
    return ids[0], ids[1]


def load_sides(a: UUID, b: UUID, workspace_ids: Sequence[UUID]) -> tuple[Side, Side]:
    """Both sides. Raises NotVisible for an id that is not the reader's, and NoPair."""
    (kind_a, row_a), (kind_b, row_b) = _find(a, workspace_ids), _find(b, workspace_ids)
    if a == b:
        raise NoPair("Both are the same. Choose two different runs, or two versions.")
    if kind_a != kind_b:
        raise NoPair(f"One is a {kind_a}, the other a {kind_b}. Choose two of one kind.")
    if row_a.workspace_id != row_b.workspace_id:
        raise NoPair("They belong to two workspaces. Choose two of one workspace.")
    return _load(kind_a, row_a), _load(kind_b, row_b)


def _find(id_: UUID, workspace_ids: Sequence[UUID]) -> tuple[SideKind, Run | Server]:
    for kind, model in KINDS.items():
        rows = model.objects.filter(pk=id_, workspace_id__in=list(workspace_ids))
        if (row := rows.select_related("workspace").first()) is not None:
            return kind, row
    raise NotVisible(f"There is no run or server {id_}, or it is not shared with you.")


def _load(kind: SideKind, row: Run | Server) -> Side:
    query = CompareQuery().with_filters(**{kind: [row.pk]})
    return Side(kind, row, gather(query, [row.workspace_id]))
