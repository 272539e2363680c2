"""What the records say of the noise of hosts."""

from collections.abc import Iterable
from uuid import UUID

from backend.noise.models import HostNoise, SelfComparison

SHOWN_COMPARISONS = 20
# Every comparison asks this. As text it costs a third of what composing it each time does.
_OF_HOSTS = """
    SELECT noise.* FROM noise_hostnoise noise JOIN runs_host host ON host.id = noise.host_id
    WHERE host.workspace_id = ANY(%s::uuid[]) AND host.id = ANY(%s::uuid[])
    """


def noise_of_hosts(
    workspace_ids: Iterable[UUID], host_ids: Iterable[UUID]
) -> dict[UUID, HostNoise]:
    """The noise of hosts of these workspaces, by host, in one statement.

    A host without a record is left out. The host of a comparison is the server's host, or the
    client's host where the server's is unknown.
    """
    rows = HostNoise.objects.raw(_OF_HOSTS, [list(workspace_ids), list(host_ids)])
    return {row.host_id: row for row in rows}


def latest_comparisons(host_id: UUID) -> list[SelfComparison]:
    """The newest A/A comparisons of a host, with their servers and workloads."""
    rows = SelfComparison.objects.filter(host=host_id)
    return list(rows.select_related("series__server", "series__workload")[:SHOWN_COMPARISONS])
