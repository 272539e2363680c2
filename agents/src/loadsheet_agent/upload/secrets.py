"""Which values of a plan and of this agent are secret."""

from __future__ import annotations

import base64
import os
from urllib.parse import parse_qsl, urlsplit

from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.upload.delivery import Target
from loadsheet_agent.upload.redaction import Redactor, is_sensitive


def redactor_for(plan: Plan, target: Target | None) -> Redactor:
    return Redactor({*plan.secrets, *_in_workloads(plan), *_in_servers(plan), *_own(target)})


def _own(target: Target | None) -> set[str]:
    token = os.environ.get("LOADSHEET_TOKEN")
    return {value for value in (token, target and target.token) if value}


def _in_workloads(plan: Plan) -> set[str]:
    found: set[str] = set()
    for workload in plan.workloads:
        for name, text in workload.headers:
            if is_sensitive(name):
                found |= {text, *_parts(text)}
        query = parse_qsl(urlsplit(workload.path).query, keep_blank_values=True)
        found |= {value for name, value in query if is_sensitive(name)}
    return found


def _in_servers(plan: Plan) -> set[str]:
    pairs = [pair for server in plan.servers for pair in server.environment.items()]
    pairs += [
        (name, value)
        for server in plan.servers
        for name, value in server.configuration.items()
        if isinstance(value, str)
    ]
    return {value for name, value in pairs if is_sensitive(name)}


def _parts(text: str) -> set[str]:
    """The credential inside a header: behind its scheme, and inside Basic's base64."""
    scheme, _, rest = text.partition(" ")
    if not rest or not scheme.isalpha():
        return set()
    found = {rest}
    if scheme.lower() == "basic":
        try:
            user_and_password = base64.b64decode(rest, validate=True).decode()
        except ValueError:
            return found
        found |= {user_and_password, user_and_password.partition(":")[2]}
    return found
