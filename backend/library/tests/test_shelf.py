"""The shelf has every server that the studies name, and docs/studies.md is printed from it."""

import tomllib
from pathlib import Path

from backend.library.page import page
from backend.library.shelf import FEATURES, SERVERS_TO_MEASURE, find_shelved, read_shelf
from backend.library.study import read_studies

DOCS = Path(__file__).parents[3] / "docs" / "studies.md"


def test_the_page_of_studies_is_printed_from_the_data():
    assert DOCS.read_text() == page(), "run: scripts/fix"


NAMED_IN_THE_STUDIES = """
    Bjoern, Chaussette, CherryPy, Chiral, Circuits, Cogen, Concurrence, DieselWeb, Django, Eventlet,
    fapws3, Fibra, Flask development server, FriendlyFlow, Gevent, Gunicorn, Jetty, Landshark,
    MultiTask, nginx, Orbited, PHP, Phusion Passenger, pyev, Snakelets, Tomcat, Tornado, Twisted,
    uWSGI, Waitress, WEBrick, Weightless
"""


def test_each_server_that_the_five_studies_name_is_on_the_shelf_once():
    expected = [name.strip() for name in NAMED_IN_THE_STUDIES.split(",")]
    assert sorted(server.name for server in read_shelf()) == sorted(expected)
    assert len({server.slug for server in read_shelf()}) == len(expected) == 32


def test_every_server_is_named_by_a_study_and_every_name_of_a_study_exists():
    names = {study.name for study in read_studies()}
    for server in read_shelf():
        assert server.studies
        assert set(server.studies) <= names


def test_every_measured_server_is_on_the_shelf():
    on_the_shelf = {name for server in read_shelf() for name in server.run_names}
    measured = {
        outputs.server["name"]
        for study in read_studies()
        for run in study.runs
        for outputs in run.outputs
    }
    assert measured <= on_the_shelf


def test_a_server_that_does_not_run_says_why():
    not_running = [server for server in read_shelf() if server.today != "yes"]
    assert [server.name for server in not_running] == ["Chiral", "FriendlyFlow"]
    assert all(server.remark for server in not_running)
    assert all(server.installs for server in read_shelf() if server.today != "no")


def test_the_14_servers_of_the_feature_table_show_their_row():
    with_features = [server for server in read_shelf() if server.features]
    assert len(with_features) == len(FEATURES.read_text().splitlines()) - 1 == 14
    assert find_shelved("gevent").event_model == "Greenlet"
    assert find_shelved("circuits").features["Uses epoll"] == "no"
    assert find_shelved("nginx").features == {}


def test_every_server_has_the_command_that_tries_it_or_why_there_is_none():
    assert find_shelved("php").repeat_text == "`loadsheet servers check mod-php`"
    without = {server.name for server in read_shelf() if server.repeat_text.startswith("no: ")}
    assert without == {
        *("Chiral", "Concurrence", "FriendlyFlow", "Landshark", "MultiTask", "Snakelets")
    }


def test_a_server_has_the_licence_that_the_servers_to_measure_name():
    for server in read_shelf():
        folder = SERVERS_TO_MEASURE / (server.folder or server.slug) / "server.toml"
        if server.licence and folder.exists():
            assert tomllib.loads(folder.read_text())["licence"] == server.licence
    assert all(server.known_licence for server in read_shelf())


def test_an_unknown_server_is_none():
    assert find_shelved("kamaelia") is None
