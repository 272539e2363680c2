"""The figures of a trial's page."""

from backend.analysis.pages.trial import SHOWN_ERRORS, list_trial_figures
from backend.runs.models import Trial


def errors_shown(count):
    trial = Trial(tool_errors={f"error {at}": 1 for at in range(count)}, parsed={})
    groups = {group.id: group for group in list_trial_figures(trial)}
    return groups.get("tool-errors")


def test_of_many_errors_the_first_are_shown():
    group = errors_shown(SHOWN_ERRORS + 901)
    assert len(group.figures) == SHOWN_ERRORS
    assert group.figures[0].label == "error 0"
    assert group.note == "901 further ones are not shown."


def test_few_errors_are_all_shown():
    group = errors_shown(SHOWN_ERRORS)
    assert (len(group.figures), group.note) == (SHOWN_ERRORS, "")
    assert errors_shown(0) is None
