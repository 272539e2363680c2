"""Reading a result set: finding it by its link, its figures, and its JSON."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backend.accounts.takedown_models import Thing
from backend.accounts.workspace.takedowns import refuse_taken_down
from backend.analysis.compare.comparison import compare_as_json
from backend.analysis.figures import Figures, plain_figures
from backend.analysis.kept_figures import figures_of_json, read_figures
from backend.analysis.loading.large_runs import hold_slot_if_large
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.runs.registry.identity import canonical_json
from backend.sharing.models import ResultSet
from backend.sharing.sources import document_of


def find_result_set(link: uuid.UUID, *, workspace_ids: Iterable[uuid.UUID]) -> ResultSet | None:
    """The result set at this link, if it is shared or belongs to one of these workspaces.

    An expired or withdrawn one is returned too, so that its readers can be told. Raises
    TakenDown, for readers outside of its workspace.
    """
    rows = ResultSet.objects.select_related("workspace", "author", "superseded_by")
    rows = rows.defer("superseded_by__snapshot", "superseded_by__notes")
    own_ids = list(workspace_ids)
    result_set = rows.readable(own_ids).filter(link=link).first()
    if result_set is not None and result_set.workspace_id not in own_ids:
        refuse_taken_down(Thing.RESULT_SET, result_set.pk, result_set.workspace_id)
    return result_set


def saved_query(result_set: ResultSet) -> CompareQuery:
    """The stored query, with the current slug of its workspace.

    Raises QueryError for a field or value that queries do not have any more.
    """
    return replace(CompareQuery.parse(result_set.query), workspace=result_set.workspace.slug)


@dataclass(frozen=True)
class Reading:
    """A result set as it reads now. Each property is evaluated once, in a slot of `viewer`.

    For a live set the properties raise QueryError where its query is not understood any more, and
    NotVisible where its runs are gone.
    """

    result_set: ResultSet
    viewer: str

    @cached_property
    def document(self) -> dict[str, Any]:
        """The content of /s/<id>.json."""
        shown = self.result_set
        if shown.is_frozen:
            return shown.frozen_snapshot()
        # Names the files of each trial.
        runs = [uuid.UUID(run.id) for run in self.figures.runs]
        hold_slot_if_large(Trial.objects.filter(run__in=runs), viewer=self.viewer)
        return document_of(shown, self.figures, id_=shown.link)

    @cached_property
    def plain_figures(self) -> dict[str, Any]:
        """The figures in the document; those of a frozen set may be of an older version."""
        shown = self.result_set
        if shown.is_frozen:
            figures: dict[str, Any] = self.document["figures"]
            return figures
        # As the comparison page gets the figures, from its cache while nothing changed.
        answer = compare_as_json(
            saved_query(shown), workspace_ids=[shown.workspace_id], viewer=self.viewer
        )
        return plain_figures(figures_of_json(answer))

    @cached_property
    def figures(self) -> Figures:
        """The same figures as a record."""
        return read_figures(self.plain_figures)

    @cached_property
    def json(self) -> bytes:
        """The bytes of /s/<id>.json; those of a frozen set have its SHA-256."""
        snapshot = self.result_set.snapshot
        return canonical_json(self.document) if snapshot is None else bytes(snapshot)
