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


def summarise_leaders(gathered: Gathered, panels: Sequence[Panel]) -> Headline:
    """`In this run, by workload: hello: haproxy leads; json: too noisy to rank`, or one leader. The
    margin has the headlines of the panels."""
    names = ", ".join(str(panel.name) for panel in panels[:MAX_PANELS_TOLD])
    leaders = {panel.leader_text() for panel in panels}
    if len(leaders) == 1 < len(panels) and (text := leaders.pop()).endswith(LEADS):
        each = [f"{text} in each: {names}"]
        text = _listed(gathered, each, len(panels) - MAX_PANELS_TOLD + 1)
    else:
        each = [f"{panel.name}: {panel.leader_text()}" for panel in panels[:MAX_PANELS_TOLD]]
        text = _listed(gathered, each, len(panels))
    scope, headlines = _common_scope(panels), join_headlines(gathered, panels)
    if scope is None:
        return Headline(text, headlines.text)
    runs = as_sentence(scope)[:-1]
    # Labels stand alone, so the text begins with a name.
    is_label = gathered.grouping.facet == "label"
    sentence = f"{runs}: {text}" if is_label else f"{runs}, {text[:1].lower()}{text[1:]}"
    return Headline(sentence, headlines.below(scope))


def _common_scope(panels: Sequence[Panel]) -> str | None:
    """`in this run`, where all that is decided is said of these runs alone."""
    decided = [ratio for panel in panels if (ratio := panel.decided) is not None]
    scopes = {ratio.scope or "" if ratio.is_within_runs else "" for ratio in decided}
    return (scopes.pop() or None) if len(scopes) == 1 else None


def _listed(gathered: Gathered, texts: Sequence[str], total: int) -> str:
    more = total - len(texts)
    tail = f"; and {more} more" if more > 0 else ""
    facet = gathered.grouping.facet or ""
    # Labels already name the field that divides the panels.
    head = "" if facet == "label" else f"By {FIELDS[facet].label.lower()}: "
    return f"{head}{'; '.join(texts)}{tail}"
