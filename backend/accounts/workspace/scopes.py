"""What a token may do, and which scopes each role may give to a token."""

from django.db import models

from backend.accounts.models import Role


class Scope(models.TextChoices):
    """What a token may do in its workspace."""

    RUNS_READ = "runs:read", "read and compare runs"
    RUNS_WRITE = "runs:write", "upload runs; with runs:read also change, share and delete them"
    AGENT = "agent", "what an agent sends: uploads, heartbeats, sessions and observations"
    ADMIN = "admin", "manage members, tokens and channels, and read the audit log"


# Of an agent's token, and of a token made in the terminal.
AGENT_SCOPES = [Scope.AGENT, Scope.RUNS_WRITE, Scope.RUNS_READ]

_BY_ROLE: dict[str, list[Scope]] = {
    Role.VIEWER: [Scope.RUNS_READ],
    Role.MEMBER: [Scope.RUNS_READ, Scope.RUNS_WRITE, Scope.AGENT],
    Role.ADMIN: list(Scope),
    Role.OWNER: list(Scope),
}


def scopes_of_role(role: str | None) -> list[Scope]:
    """The scopes that a member with `role` may give to a token; empty for everyone else."""
    return _BY_ROLE.get(role or "", [])
