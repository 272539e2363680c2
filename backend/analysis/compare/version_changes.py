"""Changes between the versions of one server that a ranking has as its series.

A ranking tells of its first two series. Of twelve versions these are often equal, while the newest
five are slower.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.headline import Headline
from backend.analysis.compare.ranking import Ranking
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.compare.trend import (
    Track,
    drift_text,
    largest_change,
    list_changes,
    track_of,
    trend_headline,
)
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.field import natural
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.units import place_text
from backend.stats.changes import LEAST_POSITIONS


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """`text`: the largest change, and how many more there are. `short`: who changed, and with which
    version. `claim`: its ratio. `check`: what rules out a drift, where runs differ in time."""

    text: str
    short: str
    claim: NamedRatio
    check: str | None = None

    def beside(self, headline: Headline, *, is_tie: bool) -> Headline:
        """The headline of the ranking with the change: before a tie, else after it."""
        told = Headline(self.text, headline.text) if is_tie else headline.followed(self.text)
        return told if self.check is None else told.followed(self.check)


def find_version_changes(
    sweeps: Sequence[Sweep], ranking: Ranking, yardstick: Yardstick, *, axis: str
) -> VersionChanges | None:
    """The changes over the versions at the ranked place; None without one, or if the series are
    not versions of one server alone."""
    metric = METRICS[ranking.metric]
    if metric.group == "errors" or not are_versions(sweeps):
        return None
    track = _track_of(sweeps, ranking)
    changes = list_changes([track], yardstick, metric=metric, axis="version")
    if not changes:
        return None
    told = trend_headline(
        changes, [track], yardstick, metric=metric, axis="version", is_one_run=True
    )
    place, largest = place_text(ranking.x, axis), largest_change(changes)
    runs = {cell.run.id for row in ranking.rows for cell in row.entrant.point.cells}
    return VersionChanges(
        text=f"{place[:1].upper()}{place[1:]}, {told}",
        short=largest.record.text.partition(":")[0],
        claim=largest.claim,
        check=None if len(runs) == 1 else drift_text("version"),
    )


def _track_of(sweeps: Sequence[Sweep], ranking: Ranking) -> Track:
    """The server at the ranked place, over its versions in their order."""
    versions = {sweep.group.id: sweep.group.first.series.server.version or "" for sweep in sweeps}
    by_version = [(versions[row.entrant.series], row.entrant) for row in ranking.rows]
    by_version.sort(key=lambda pair: natural(pair[0]))
    return track_of("", sweeps[0].group.first.series.server.name, by_version, ranking.metric)


def are_versions(sweeps: Sequence[Sweep]) -> bool:
    """Whether the series are different known versions of one server, enough to find a change, and
    nothing else differs between the servers."""
    if len(sweeps) < LEAST_POSITIONS:
        return False
    servers = [sweep.group.first.series.server for sweep in sweeps]
    versions = [server.version for server in servers]
    others = {
        (
            server.name,
            server.settings,
            tuple(text for name, text in server.texts.items() if name != "version"),
        )
        for server in servers
    }
    return len(others) == 1 and None not in versions and len(set(versions)) == len(versions)
