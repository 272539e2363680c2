"""The noise of hosts, as the pages of hosts show it."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from backend.accounts.models import Workspace
from backend.links import run_link
from backend.noise.reading import latest_comparisons, noise_of_hosts
from backend.noise.sentences import (
    AA_COMMAND,
    difference_text,
    floor_sentence,
    run_sentence,
    share_text,
)
from backend.runs.models import Host


def floor_texts(workspace: Workspace, host_ids: Iterable[UUID]) -> dict[UUID, dict[str, Any]]:
    """By host, its noise floor as `share` and as `text`; a host without one is left out."""
    return {
        id_: {"share": noise.floor_share, "text": share_text(noise.floor_share)}
        for id_, noise in noise_of_hosts([workspace.pk], host_ids).items()
        if noise.floor_share is not None
    }


def describe_noise(workspace: Workspace, host: Host) -> dict[str, Any]:
    """Noise floor, run-to-run variation and the latest A/A comparisons of a host."""
    noise = noise_of_hosts([workspace.pk], [host.pk]).get(host.pk)
    return {
        "floor": floor_sentence(noise),
        "is_known": noise is not None and noise.floor_share is not None,
        "command": AA_COMMAND,
        "runs": run_sentence(noise),
        "comparisons": [
            {
                "run_url": run_link(row.run_id),
                "measured_at": row.measured_at,
                "server": row.series.server,
                "workload": row.series.workload,
                "connections": row.connections,
                "difference": difference_text(row.difference),
                "sort_value": row.difference,
                "trials": f"{row.trials_a} + {row.trials_b}",
            }
            for row in latest_comparisons(host.pk)
        ],
    }
