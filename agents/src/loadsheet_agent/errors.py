"""Errors a person reads: one sentence with what was given, what was expected and what to do."""

from loadsheet_agent.exits import Exit


class AgentError(Exception):
    """Base of all errors; `exit_code` is how the process ends."""

    exit_code = Exit.FAILED


class UsageError(AgentError):
    """A wrong command line, a missing file or a missing token."""

    exit_code = Exit.USAGE


class PlanError(AgentError):
    """The plan cannot be carried out as it is written."""

    exit_code = Exit.PLAN


class ToolMissingError(AgentError):
    """No load tool that can do the plan is installed."""

    exit_code = Exit.NO_TOOL


class ServerStartError(AgentError):
    """A server of the plan did not start; its trials record this text as their error."""


class NoVerdictError(AgentError):
    """The service gave no verdict about a build."""

    exit_code = Exit.UNREACHED


class NotInstalledError(AgentError):
    """A program of the plan cannot be installed; its server is skipped for this reason."""


class BrokenInstallError(NotInstalledError):
    """An installation failed that reached all it needs: its commands or files are wrong."""


class PlanStoppedError(AgentError):
    """A rule of the plan, or a full disk, ended the run early; finished trials are kept."""

    exit_code = Exit.STOPPED

    def __init__(self, text: str, *, is_resumable: bool = False) -> None:
        super().__init__(text)
        self.is_resumable = is_resumable
