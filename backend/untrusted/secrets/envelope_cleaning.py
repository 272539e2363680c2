"""An envelope without secrets."""

import hashlib
from collections.abc import Hashable, Mapping
from typing import Any

from backend.untrusted.limits import INLINE_FILE_BYTES, SHORT_BYTES
from backend.untrusted.sandbox.fair_slots import NOBODYS
from backend.untrusted.secrets.cleaners import Work, cleaner
from backend.untrusted.secrets.cleaning import clean_fields


def clean_envelope(
    envelope: Mapping[str, Any], *, size_bytes: int, payer: Hashable = NOBODYS
) -> dict[str, Any]:
    """The envelope without secrets; the plan's hash stays that of the plan that is kept."""
    if size_bytes <= INLINE_FILE_BYTES:
        cleaned = clean_fields(envelope)
    else:
        with cleaner(Work(payer, is_short=size_bytes <= SHORT_BYTES)) as child:
            cleaned = child.clean_json(envelope)
    plan = _plan_of(cleaned)
    if plan is not None and plan != _plan_of(envelope):
        cleaned["run"]["plan_sha256"] = hashlib.sha256(plan.encode()).hexdigest()
    return cleaned


def _plan_of(envelope: Mapping[str, Any]) -> str | None:
    """None too where its place holds something else: the envelope is not checked yet."""
    run = envelope.get("run")
    plan = run.get("plan") if isinstance(run, Mapping) else None
    return plan if isinstance(plan, str) else None
