"""Asking a worker to draw the image of a result set."""

from __future__ import annotations

import logging
from uuid import UUID

from celery import current_app

log = logging.getLogger(__name__)

DRAW_TASK = "sharing.draw"
# A message that waited longer is of no use: somebody asked for the image by then.
EXPIRES_S = 300


def request_drawing(result_set_id: UUID) -> None:
    """Call it after the commit. Never raises: the image is also drawn when somebody asks for it."""
    try:
        current_app.send_task(DRAW_TASK, args=[str(result_set_id)], retry=False, expires=EXPIRES_S)
    except Exception:  # the broker is disposable
        log.warning("hint_not_sent", exc_info=True)
