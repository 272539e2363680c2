"""Which values of a plan and of this agent are secret."""

from __future__ import annotations

import base64
import os
from urllib.parse import parse_qsl, urlsplit

from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.upload.redaction import Redactor, is_sensitive
from loadsheet_agent.upload.target import Target


def redactor_for(plan: Plan, target: Target | None) -> Redactor:
    """Masks the plan's secrets and the agent's token."""
    return Redactor({*plan.secrets, *_in_workloads(plan), *_in_servers(plan), *_tokens(target)})


def _tokens(target: Target | None) -> set[str]:
    token = os.environ.get("LOADSHEET_TOKEN")
    return {value for value in (token, target and target.token) if value}


def _in_workloads(plan: Plan) -> set[str]:
    secrets: set[str] = set()
    for workload in plan.workloads:
        for name, text in workload.headers.items():
            if is_sensitive(name):
                secrets |= {text, *_credentials(text)}
        query = parse_qsl(urlsplit(workload.path).query, keep_blank_values=True)
        secrets |= {value for name, value in query if is_sensitive(name)}
    return secrets


def _in_servers(plan: Plan) -> set[str]:
    pairs = [pair for server in plan.servers for pair in server.environment.items()]
    pairs += [
        (name, value)
        for server in plan.servers
        for name, value in server.configuration.items()
        if isinstance(value, str)
    ]
    return {value for name, value in pairs if is_sensitive(name)}


def _credentials(text: str) -> set[str]:
    """The credentials inside a header: after its scheme, and inside Basic's base64."""
    scheme, _, credentials = text.partition(" ")
    if not credentials or not scheme.isalpha():
        return set()
    if scheme.lower() != "basic":
        return {credentials}
    try:
        user_and_password = base64.b64decode(credentials, validate=True).decode()
    except ValueError:
        return {credentials}
    return {credentials, user_and_password, user_and_password.partition(":")[2]}
