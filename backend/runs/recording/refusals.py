"""Why a run is not recorded."""

import uuid

from backend.errors import Conflict
from backend.runs.tables.names import MAX_TRIALS


class RunElsewhere(Conflict):
    """The run's id is used by another workspace; nothing was written."""

    def __init__(self, run_id: uuid.UUID, *, hint: str = "") -> None:
        super().__init__(f"The run id {run_id} is not one of this workspace.", hint=hint)


class TooManyTrials(Conflict):
    """These trials would bring the run above the limit; nothing was written."""

    def __init__(self) -> None:
        super().__init__(f"A run has at most {MAX_TRIALS:,} trials.")
