"""Asking a worker to draw the image of a result set."""

from uuid import UUID

from celery import current_app

from backend.broker import BROKER

DRAW_TASK = "sharing.draw"
# A message that waited longer is useless: by then a reader has asked for the image.
EXPIRES_S = 300


def request_drawing(result_set_id: UUID) -> None:
    """Queue the drawing. Call it after the commit.

    Never raises: without a broker the image is drawn for the first request of it.
    """
    arguments = [str(result_set_id)]
    BROKER.call(
        lambda: current_app.send_task(DRAW_TASK, args=arguments, retry=False, expires=EXPIRES_S),
        otherwise=None,
    )
