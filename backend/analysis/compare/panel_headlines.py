"""What several panels say together: their headlines, or who leads in each."""

from collections.abc import Sequence

from backend.analysis.compare.advice import as_sentence
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import Headline
from backend.analysis.compare.panels import LEADS, Panel
from backend.analysis.query.fields import FIELDS

MAX_PANELS_TOLD = 3


def join_headlines(gathered: Gathered, panels: Sequence[Panel]) -> Headline:
    """The headlines of the first panels, one after the other."""
    return Headline(
        _listed(gathered, [panel.told() for panel in panels[:MAX_PANELS_TOLD]], len(panels))
    )


def summarise_leaders(gathered: Gathered, panels: Sequence[Panel]) -> str:
    """`In this run, by workload: hello: haproxy leads; json: too noisy to rank`, or one leader."""
    names = ", ".join(str(panel.name) for panel in panels[:MAX_PANELS_TOLD])
    leaders = {panel.leader_text() for panel in panels}
    if len(leaders) == 1 < len(panels) and (text := leaders.pop()).endswith(LEADS):
        each = [f"{text} in each: {names}"]
        text = _listed(gathered, each, len(panels) - MAX_PANELS_TOLD + 1)
    else:
        each = [f"{panel.name}: {panel.leader_text()}" for panel in panels[:MAX_PANELS_TOLD]]
        text = _listed(gathered, each, len(panels))
    return _in_its_runs(gathered, panels, text)


def _in_its_runs(gathered: Gathered, panels: Sequence[Panel], text: str) -> str:
    """The text after `In this run`, where all that is decided is said of these runs alone."""
    decided = [ratio for panel in panels if (ratio := panel.decided) is not None]
    scopes = {ratio.scope or "" if ratio.is_within_runs else "" for ratio in decided}
    if len(scopes) != 1 or "" in scopes:
        return text
    scope = as_sentence(scopes.pop())[:-1]
    # Labels stand alone, so the text begins with a name.
    if gathered.grouping.facet == "label":
        return f"{scope}: {text}"
    return f"{scope}, {text[:1].lower()}{text[1:]}"


def _listed(gathered: Gathered, texts: Sequence[str], total: int) -> str:
    more = total - len(texts)
    tail = f"; and {more} more" if more > 0 else ""
    facet = gathered.grouping.facet or ""
    # Labels already name the field that divides the panels.
    head = "" if facet == "label" else f"By {FIELDS[facet].label.lower()}: "
    return f"{head}{'; '.join(texts)}{tail}"
