"""The document of a result set: what /s/<id>.json holds, frozen or live."""

from typing import Any
from uuid import UUID

from backend import __version__
from backend.analysis.figures import Figures, plain_figures
from backend.analysis.query.timestamps import instant
from backend.sharing.models import ResultSet
from backend.sharing.sources import sources_of

SCHEMA = 2


def document_of(result_set: ResultSet, figures: Figures, *, id_: UUID) -> dict[str, Any]:
    """The figures with all that a reader needs to check them.

    `id_` is the id of a frozen set, and the link of a live one. The time of reading is left out:
    equal figures give equal bytes.
    """
    return {
        "schema": SCHEMA,
        "kind": result_set.kind,
        "id": str(id_),
        "title": result_set.title,
        "created_at": instant(result_set.created_at),
        "workspace": result_set.workspace.slug,
        "query": figures.query,
        "runs": sources_of([run.id for run in figures.runs]),
        "figures": plain_figures(figures),
        "software": {"name": "loadsheet", "version": __version__},
    }
