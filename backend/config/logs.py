"""Log lines as JSON on stderr: a constant event name, then fields; ids, never secrets."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from backend import log_context
from backend.ingest.redaction import Redactor
from backend.visible_text import escaped

REDACTOR = Redactor()
OUTAGES = (503, 507)
STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "request"}


class JsonFormatter(logging.Formatter):
    """One JSON object a line; characters that nobody sees are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **log_context.current(),
        }
        extra = record.__dict__.items()
        line.update({key: value for key, value in extra if key not in STANDARD})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return escaped(json.dumps(REDACTOR.value(line), default=str, ensure_ascii=False))


class ShortOutages(logging.Filter):
    """Makes a line of each answer of 503 or 507, with its reason in the place of a traceback.

    The sender got an answer, and the code has no fault.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) in OUTAGES:
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.msg, record.args = "not_available", ()
            record.path = getattr(getattr(record, "request", None), "path", "")
            if record.exc_info:
                record.reason = repr(record.exc_info[1])[:300]
                record.exc_info = record.exc_text = None
        return True


def logging_config(level: str) -> dict[str, Any]:
    """Django's LOGGING with everything of at least `level` on stderr."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "filters": {"short_outages": {"()": ShortOutages}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django.server": {"handlers": ["stderr"], "propagate": False},
            # Broken links and bots are no fault of ours.
            "django.request": {"level": "ERROR", "filters": ["short_outages"]},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
    }
