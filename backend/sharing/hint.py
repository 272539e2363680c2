"""Asking a worker for an image."""

from __future__ import annotations

import logging
from uuid import UUID

from celery import current_app

log = logging.getLogger(__name__)

DRAW_TASK = "sharing.draw"
# A hint that waited longer is of no use: the image was asked for and drawn by then.
HINT_S = 300


def hint_to_draw(result_set_id: UUID) -> None:
    """To be called after the commit. Never raises: the image is drawn when asked for, too."""
    try:
        current_app.send_task(DRAW_TASK, args=[str(result_set_id)], retry=False, expires=HINT_S)
    except Exception:  # the broker is disposable
        log.warning("hint_not_sent", exc_info=True)
