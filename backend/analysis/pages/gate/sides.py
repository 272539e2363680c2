"""The two sides of a gate: which runs are the candidate, and which the baseline."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from backend.analysis.loading.run_labels import with_label
from backend.analysis.loading.selection import NotVisible
from backend.analysis.query.compare_query import QueryError
from backend.runs.models import Cell, Run
from backend.runs.tables.happening import happened_at, newest_first
from backend.runs.tables.large_columns import large_columns

Kind = Literal["run", "version", "label"]
# A history is read as far back as that of a host's noise.
NEWEST_RUNS = 30
MOST_CANDIDATES = 10
MAX_TEXT = 300
# The label that a name alone asks for.
BRANCH = "branch"
FORMS = "run=ID, version=TEXT, label=KEY:VALUE, or the name of a branch"


@dataclass(frozen=True, slots=True)
class Side:
    """Which runs are asked for; `text` is `run=…`, `version=…` or `label=…`."""

    kind: Kind
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(f"{self.kind}={value}" for value in self.values)

    @property
    def is_history(self) -> bool:
        """Whether only the runs from before the candidate count, as of a branch."""
        return self.kind == "label"

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        """What of its runs is asked for: runs may have several versions."""
        return {"version": self.values} if self.kind == "version" else {}


def read_side(field: str, texts: Sequence[str]) -> Side:
    """The side that `texts` name; several may name runs only. Raises QueryError."""
    parts = [_read(field, text.strip()) for text in texts if text.strip()]
    kinds = {kind for kind, _ in parts}
    if len(kinds) != 1 or (len(parts) > 1 and kinds != {"run"}) or len(parts) > MOST_CANDIDATES:
        got = ", ".join(texts) or "nothing"
        raise QueryError(field, got, f"{FORMS}; only run=ID may be given more than once")
    return Side(kinds.pop(), tuple(dict.fromkeys(value for _, value in parts)))


def _read(field: str, text: str) -> tuple[Kind, str]:
    if len(text) > MAX_TEXT or "\0" in text:
        raise QueryError(field, text, f"text of at most {MAX_TEXT} characters without NUL")
    kind, is_named, value = text.partition("=")
    if not is_named:
        return "label", f"{BRANCH}:{text}"
    if kind == "run":
        return "run", _run_id(field, value)
    if kind == "version" and value:
        return "version", value
    if kind == "label" and ":" in value:
        return "label", value
    raise QueryError(field, text, FORMS)


def _run_id(field: str, text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise QueryError(field, text, "run= and the id of a run (a UUID)") from None


def find_candidate(side: Side, workspace_ids: Sequence[UUID]) -> list[Run]:
    """The newest runs of the candidate, of one workspace. Raises NotVisible if there is none."""
    runs = list(_runs_of(side, workspace_ids)[:MOST_CANDIDATES])
    runs = [run for run in runs if run.workspace_id == runs[0].workspace_id]
    missing = set(side.values) - {str(run.pk) for run in runs} if side.kind == "run" else ()
    if not runs or missing:
        shown = f"run={min(missing)}" if missing else side.text
        raise NotVisible(f"There is no run with {shown}, or it is not shared with you.")
    return runs


def find_baseline(side: Side, candidates: Sequence[Run], servers: Collection[str]) -> list[Run]:
    """The newest runs of the baseline that measured any of these servers; none where none did.

    Of a branch, only the runs from before the candidate, so the answer stays the same later.
    """
    rows = _runs_of(side, [candidates[0].workspace_id]).filter(is_open=False)
    if side.is_history:
        rows = rows.exclude(pk__in=[run.pk for run in candidates])
        rows = rows.filter(Q(happened_at__lte=min(map(happened_at, candidates))))
    measured = Cell.objects.filter(run=OuterRef("pk"), series__server__name__in=list(servers))
    return list(rows.filter(Exists(measured))[:NEWEST_RUNS])


def _runs_of(side: Side, workspace_ids: Sequence[UUID]) -> QuerySet[Run]:
    rows = Run.objects.filter(workspace_id__in=list(workspace_ids)).filter(_condition(side))
    return newest_first(rows.select_related("workspace").defer(*large_columns()))


def _condition(side: Side) -> Q:
    if side.kind == "run":
        return Q(pk__in=side.values)
    if side.kind == "label":
        return with_label(side.values[0])
    of_version = Cell.objects.filter(run=OuterRef("pk"), series__server__version=side.values[0])
    return Q(Exists(of_version))
