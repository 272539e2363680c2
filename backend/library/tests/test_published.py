"""What the library gives as published is what was printed."""

import re

import pytest

from backend.library.published import highest_printed
from backend.library.shelf import find_shelved, read_shelf
from backend.library.study import find_study
from backend.runs.models import Cell, Run


@pytest.mark.parametrize(
    ("slug", "study", "figure"),
    [
        ("fapws", "landshark-2010", "7,174 requests/s at 100 connections"),
        # The mean of its reports is 1,092, and their geometric mean 1,072.
        ("jetty", "landshark-2010", "1,095 requests/s at 1,000 connections"),
        ("nginx", "scaling-twisted-2013", "86,385 requests/s at 1,000 connections"),
        ("twisted", "scaling-twisted-2013", "62,414 requests/s at 4,000 connections"),
        ("twisted", "async-servers-2009", ""),
        ("tornado", "async-servers-2009", "7,400 requests/s at a rate of 7,400"),
        ("snakelets", "snakelets-2005", "620 requests/s at 60 connections"),
        ("concurrence", "async-servers-2009", "3,076 requests/s"),
        (
            "webrick",
            "landshark-2010",
            "143 requests/s at 10,000 connections, the highest of 3 outputs",
        ),
        (
            "django",
            "landshark-2010",
            "Django development server 953 requests/s at 1,000 connections, "
            "mod_wsgi 3,651 requests/s at 100 connections",
        ),
    ],
)
def test_the_highest_figure_that_a_study_printed_for_a_server(slug, study, figure):
    assert highest_printed(find_shelved(slug), find_study(study)) == figure


def test_every_figure_stands_in_a_table_or_an_output():
    shown = 0
    for server in read_shelf():
        for study in server.named_in:
            files = [*study.folder.glob("*.csv"), *study.folder.glob("raw/*/*.txt")]
            texts = "\n".join(path.read_text(errors="replace") for path in files)
            numbers = {f"{float(number):,.0f}" for number in re.findall(r"\d+(?:\.\d+)?", texts)}
            rates = re.findall(r"([\d,]+) requests/s", highest_printed(server, study))
            assert set(rates) <= numbers, (server.name, study.name)
            shown += len(rates)
    assert shown > 15


@pytest.mark.django_db
def test_a_run_as_published_has_no_point_of_several_trials(library):
    """Else its figure would be a mean of ours, which nobody published."""
    runs = Run.objects.filter(labels__part__startswith="As published")
    assert runs.count() == 6
    repeated = [cell for cell in Cell.objects.filter(run__in=runs) if cell.trials.count() > 1]
    assert repeated == []
