"""Log lines as JSON on stderr: a constant event name, then fields; ids, never secrets."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from backend import log_context
from backend.untrusted.secrets.redaction import Redactor
from backend.visible_text import escaped

REDACTOR = Redactor()
OUTAGES = (503, 507)
# Django names a logger below it after each kind of request that it refuses.
REFUSALS = "django.security."
LONGEST = 300
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
    """Makes a line of each answer of 503 or 507: the sender got it, and the code has no fault."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) in OUTAGES:
            _shorten(record, "not_available")
        return True


class ShortRefusals(logging.Filter):
    """Makes a line of each request that Django refuses, such as a form with too many fields:
    strangers send them as often as they like, and the code has no fault.

    It belongs to a handler: a filter of a logger does not see the lines of the loggers below it.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith(REFUSALS) and record.exc_info:
            _shorten(record, "request_refused")
        return True


def _shorten(record: logging.LogRecord, event: str) -> None:
    """Make it a warning with a constant name, and with the reason in the place of a traceback."""
    record.levelno, record.levelname = logging.WARNING, "WARNING"
    record.msg, record.args = event, ()
    record.path = getattr(getattr(record, "request", None), "path", "")[:LONGEST]
    if record.exc_info:
        record.reason = repr(record.exc_info[1])[:LONGEST]
        record.exc_info = record.exc_text = None


def logging_config(level: str) -> dict[str, Any]:
    """Django's LOGGING with everything of at least `level` on stderr."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "filters": {
            "short_outages": {"()": ShortOutages},
            "short_refusals": {"()": ShortRefusals},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "json",
                "filters": ["short_refusals"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django.server": {"handlers": ["stderr"], "propagate": False},
            # Broken links and bots are no fault of ours.
            "django.request": {"level": "ERROR", "filters": ["short_outages"]},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
    }
