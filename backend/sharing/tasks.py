"""Celery tasks: drawing images ahead of the first request for them."""

import logging

from celery import shared_task

from backend.analysis.loading.selection import NotVisible
from backend.analysis.query.compare_query import QueryError
from backend.sharing.drawing import BusyDrawing, CannotDraw, TooManyDrawings, image_of
from backend.sharing.drawing_queue import DRAW_TASK
from backend.sharing.models import ResultSet
from backend.sharing.reading import Reading

log = logging.getLogger(__name__)


@shared_task(name=DRAW_TASK)  # type: ignore[untyped-decorator]
def draw(result_set_id: str) -> None:
    """Draw the image of a result set that has none yet."""
    result_set = ResultSet.objects.select_related("workspace").filter(pk=result_set_id).first()
    if result_set is None or result_set.is_gone:
        return
    try:
        image_of(Reading(result_set, "worker"))
    except (CannotDraw, BusyDrawing, TooManyDrawings, NotVisible, QueryError) as error:
        log.warning("not_drawn", extra={"result_set": result_set_id, "reason": str(error)})
