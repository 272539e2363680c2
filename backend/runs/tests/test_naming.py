"""A run is called by what it measured."""

import pytest

from backend.runs.catalogue.naming import run_name, trial_count_text


@pytest.mark.parametrize(
    ("servers", "name"),
    [
        (["caddy 1.27.1"], "caddy 1.27.1 · json · wrk"),
        (["caddy 1.27.1", "caddy 1.27.1", "nginx"], "caddy 1.27.1 and nginx · json · wrk"),
        (["nginx", "caddy 1.27.1"], "caddy 1.27.1 and nginx · json · wrk"),
        (["WEBrick", "Waitress"], "Waitress and WEBrick · json · wrk"),
        (["a", "b", "c"], "3 servers · json · wrk"),
    ],
)
def test_a_run_is_called_by_server_workload_and_load_tool(servers, name):
    assert run_name(servers, ["json"], ["wrk"]) == name


def test_a_run_without_trials_has_a_name_too():
    assert run_name([], [], []) == "Run without trials"


@pytest.mark.parametrize(
    ("trials", "warmups", "text"),
    [
        (48, 12, "36 trials and 12 warm-ups"),
        (2, 1, "1 trial and 1 warm-up"),
        (3, 0, "3 trials"),
        (0, 0, "0 trials"),
    ],
)
def test_warm_ups_are_counted_beside_the_trials(trials, warmups, text):
    assert trial_count_text(trials, warmups) == text
