"""Errors a person reads: one sentence saying what was got, expected and what to do."""

from loadsheet_agent.exits import Exit


class AgentError(Exception):
    exit_code = Exit.FAILED


class UsageError(AgentError):
    exit_code = Exit.USAGE


class PlanError(AgentError):
    exit_code = Exit.PLAN


class ToolMissingError(AgentError):
    exit_code = Exit.NO_TOOL


class InterruptError(AgentError):
    exit_code = Exit.INTERRUPTED


class ServerStartError(AgentError):
    """A server of the plan did not come up; its trials carry this text."""


class PlanStoppedError(AgentError):
    """A rule of the plan, or a full disk, ended it early; what had finished is kept."""

    exit_code = Exit.STOPPED

    def __init__(self, text: str, *, is_resumable: bool = False) -> None:
        super().__init__(text)
        self.is_resumable = is_resumable
