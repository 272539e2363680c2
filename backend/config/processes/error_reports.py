"""Faults as reports to Sentry, where the operator gives a DSN; without it, nothing is sent.

A report has the traceback, without the values of variables, and the ids of the log. Secrets are
taken out by the rules of the log. Bodies, cookies and addresses of visitors are not sent.
"""

from typing import Any, cast

from django.conf import settings

from backend import __version__, log_context
from backend.config.environment.logs import REDACTOR, REFUSALS


def start(**options: Any) -> None:
    """Send reports from now on, if SENTRY_DSN is set. `options` are those of sentry_sdk.init."""
    if not settings.SENTRY_DSN:
        return
    # Only where it is used: the import takes as long as that of the site.
    import sentry_sdk

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=f"loadsheet@{__version__}",
        include_local_variables=False,
        max_request_body_size="never",
        traces_sample_rate=0.0,
        before_send=_report_of,
        **options,
    )


def _report_of(event: Any, _: object) -> Any:
    """The event without secrets; None, which is not sent, for a request that Django refused."""
    if str(event.get("logger", "")).startswith(REFUSALS):
        return None
    request = event.get("request") or {}
    for part in ("headers", "cookies", "data", "env", "query_string"):
        request.pop(part, None)
    event.pop("user", None)
    event["tags"] = {**(event.get("tags") or {}), **log_context.current()}
    return cast(Any, REDACTOR.value(event))
