"""Celery tasks: a message is a hint; whoever asks for an image draws it where none is kept."""

from __future__ import annotations

import logging

from celery import shared_task

from backend.analysis.cells import NotVisible
from backend.analysis.query import QueryError
from backend.sharing.drawing import BusyDrawing, CannotDraw, image_of
from backend.sharing.hint import DRAW_TASK
from backend.sharing.models import ResultSet
from backend.sharing.reading import Reading

log = logging.getLogger(__name__)


@shared_task(name=DRAW_TASK)  # type: ignore[untyped-decorator]
def draw(result_set_id: str) -> None:
    """Draw the image of a result set that has none yet."""
    found = ResultSet.objects.select_related("workspace").filter(pk=result_set_id).first()
    if found is None or found.is_gone:
        return
    try:
        image_of(Reading(found))
    except (CannotDraw, BusyDrawing, NotVisible, QueryError) as error:
        log.warning("not_drawn", extra={"result_set": result_set_id, "reason": str(error)})
