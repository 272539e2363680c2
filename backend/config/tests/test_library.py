from backend.config.site import demo
from backend.config.site.site_folder import StartFailed


class FakeSite:
    """A site whose commands are counted, and fail where a test says so."""

    url = "http://127.0.0.1:8000"

    def __init__(self, failure=None):
        self.failure = failure
        self.commands = []

    def manage(self, *arguments):
        self.commands.append(arguments)
        if self.failure:
            raise self.failure


def told_by(site, monkeypatch):
    lines = []
    monkeypatch.setattr(demo, "say", lines.append)
    demo.load_library(site)
    return lines


def test_a_start_loads_the_library_and_says_where_it_is(monkeypatch):
    site = FakeSite()
    (line,) = told_by(site, monkeypatch)
    assert site.commands == [("load_library",)]
    assert line.endswith("http://127.0.0.1:8000/library/")


def test_a_library_that_cannot_be_loaded_stops_no_start(monkeypatch):
    (line,) = told_by(FakeSite(StartFailed("The disk is full.")), monkeypatch)
    assert line.startswith("The library was not loaded: The disk is full.")
