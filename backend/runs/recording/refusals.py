"""Why a run is not recorded."""

import uuid

from backend.errors import Conflict
from backend.runs.tables.names import (
    MAX_CONFIGURATION_BYTES,
    MAX_CONFIGURATIONS,
    MAX_TRIALS,
)


class RunElsewhere(Conflict):
    """The run's id is used by another workspace; nothing was written."""

    def __init__(self, run_id: uuid.UUID, *, hint: str = "") -> None:
        super().__init__(f"The run id {run_id} is not one of this workspace.", hint=hint)


class RunTooLarge(Conflict):
    """The upload would bring the run above a limit; nothing was written."""


class TooManyTrials(RunTooLarge):
    """More trials than a run may have."""

    def __init__(self) -> None:
        super().__init__(f"A run has at most {MAX_TRIALS:,} trials.")


class ConfigurationsTooLarge(RunTooLarge):
    """More servers, workloads, configurations or headers than a run may have."""

    def __init__(self) -> None:
        super().__init__(
            f"A run has at most {MAX_CONFIGURATIONS:,} servers and as many workloads. All "
            f"configurations together have at most {MAX_CONFIGURATION_BYTES:,} bytes as JSON, and "
            "so have all headers."
        )
