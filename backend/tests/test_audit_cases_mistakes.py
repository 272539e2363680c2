"""Mistakes that once gave a silent, comparable answer, each planted in outputs and uploaded.

Settled elsewhere: declared conditions that differ, in `test_like_for_like.py` of
`backend/analysis/compare/tests`.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from backend.testing.lab import CLIENT, SERVER, Lab
from backend.testing.made.printing import (
    made_open_trial,
    made_trial,
    print_trial,
    print_trials,
)
from backend.testing.made.requests import lognormal

pytestmark = pytest.mark.django_db

CAPTURES = Path(__file__).parents[1] / "formats" / "h2load" / "tests" / "captures"
H2LOAD = (CAPTURES / "h2c-c10-m10-n5000-10k" / "stdout").read_text()
RATES = (8_000.0, 8_080.0, 7_920.0)
SLOWER = (7_000.0, 7_070.0, 6_930.0)


@pytest.fixture(autouse=True)
def _files(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def lab():
    return Lab()


def texts(tool="wrk", *, alpha=RATES, beta=SLOWER, **options):
    return {
        "alpha": print_trials(tool, alpha, **options),
        "beta": print_trials(tool, beta, **options),
    }


def edit_server(name, **parts):
    """An edit of the trials of one server: `parts` are merged into the parts of the trial."""

    def edit(trial):
        if trial["server"]["name"] == name:
            for part, values in parts.items():
                trial[part] = {**trial.get(part, {}), **values}

    return edit


def every(change, outputs, server="beta"):
    return {**outputs, server: [change(text) for text in outputs[server]]}


def bytes_of_ab(size):
    """A change of an ab report: responses of `size` bytes, with 140 bytes of headers."""

    def change(text):
        count = int(re.search(r"Complete requests: +(\d+)", text).group(1))
        for label, each in (("Total", size + 140), ("HTML", size)):
            text = re.sub(
                rf"{label} transferred: +\d+", f"{label} transferred: {count * each}", text
            )
        return text.replace("Document Length:        100", f"Document Length: {size}")

    return change


def close_connections(text):
    return re.sub(r"Keep-Alive requests: +\d+", "Keep-Alive requests:    0", text)


def test_a_payload_that_only_the_output_shows(lab):
    lab.upload(every(bytes_of_ab(10_000), texts("ab")), tool="ab")
    answer = lab.ask()
    assert answer["ranking"] is None
    assert "payload" in answer["outcome"]["differing"]


def test_a_document_length_that_only_the_output_shows(lab):
    outputs = every(bytes_of_ab(13), texts("ab"), "alpha")
    lab.upload(every(bytes_of_ab(10_000), outputs), tool="ab")
    assert lab.ask()["ranking"] is None


def test_a_keepalive_line_of_ab_against_the_envelope(lab):
    lab.upload(every(close_connections, texts("ab")), tool="ab")
    answer = lab.ask()
    assert answer.fired["contradicts-envelope"] == "error"
    assert answer.row("beta")["tier"] is None


def test_a_loopback_address_in_the_output(lab):
    outputs = texts()
    for name in outputs:
        outputs = every(lambda text: text.replace("10.0.0.2", "127.0.0.1"), outputs, name)
    lab.upload(outputs)
    answer = lab.ask()
    assert answer.fired["one-host"] == "warning"
    assert answer["outcome"]["status"] == "caveats"


def test_one_name_of_two_hosts(lab):
    lab.upload(texts(), hosts={"client": CLIENT, "server": {**SERVER, "name": CLIENT["name"]}})
    assert lab.ask().fired["one-host"] == "warning"


def test_runs_six_months_apart(lab):
    lab.upload({"alpha": print_trials("wrk", RATES)}, run={"started_at": "2026-01-05T12:00:00Z"})
    lab.upload({"beta": print_trials("wrk", SLOWER)}, run={"started_at": "2026-07-05T12:00:00Z"})
    assert lab.ask().fired["far-apart"] == "warning"


def test_trials_of_2_s_beside_trials_of_60_s(lab):
    lab.upload(
        {
            "alpha": print_trials("wrk", (900.0, 909.0, 891.0), seconds=2.0),
            "beta": print_trials("wrk", (800.0, 808.0, 792.0), seconds=60.0),
        }
    )
    assert lab.ask().fired["unequal-length"] == "warning"


@pytest.mark.parametrize(
    "parts",
    [
        {"server": {"version": "1.0-debug"}},
        {"server": {"configuration": {"profile": "target/debug/server"}}},
    ],
)
def test_a_debug_build(lab, parts):
    lab.upload(texts(), edit=edit_server("beta", **parts))
    assert lab.ask().fired["development-mode"] == "warning"


def test_64_requests_a_second_at_every_load(lab):
    for connections in (1, 8, 64):
        outputs = {
            "alpha": print_trials("wrk", (64.0, 64.2, 63.9), connections=connections, seconds=120.0)
        }
        lab.upload(outputs, connections=connections)
    assert "flat-over-load" in lab.ask().fired


def test_acknowledgements_delayed_by_40_ms(lab):
    def law(rng, size):
        return 1 + np.abs(rng.normal(0, 0.01, size))

    lab.upload({"alpha": print_trials("wrk", (248.0, 247.0, 246.0), law=law)})
    assert lab.ask().fired["delayed-ack"] == "warning"


@pytest.mark.parametrize("tool", ["ab", "hey"])
def test_a_clock_that_ticks_every_15_625_ms(lab, tool):
    def tick(figures):
        for name in ("mean_us", "min_us", "max_us"):
            setattr(figures, name, ticked(getattr(figures, name)))
        figures.percentiles_us = {name: ticked(us) for name, us in figures.percentiles_us.items()}

    wide = lognormal(0.8)
    trials = [made_trial(rate, seed=at, law=wide) for at, rate in enumerate((150.0, 151.0, 149.0))]
    lab.upload({"alpha": [print_trial(tool, trial, tick) for trial in trials]}, tool=tool)
    assert lab.ask().fired["clock-tick"] == "warning"


def ticked(us):
    return max(round(us / 15_625), 1) * 15_625.0


def test_a_stall_that_a_closed_loop_leaves_out(lab):
    trials = [made_trial(8_000, seed=at, seconds=3.0, stall_s=(1.0, 1.0)) for at in range(3)]
    lab.upload({"alpha": [print_trial("oha", trial) for trial in trials]}, tool="oha")
    answer = lab.ask(metric="p99")
    assert answer.point("alpha")["metrics"]["p99"]["value"] < 10_000
    assert answer.fired["stall"] == "warning"


def test_requests_that_an_open_loop_sent_late(lab):
    trials = [made_open_trial(3_000, median_us=4_000, seed=at) for at in range(3)]
    late = [print_trial("vegeta CSV", delayed(trial, begin_s=1.0, until_s=2.9)) for trial in trials]
    lab.upload({"alpha": late}, tool="vegeta", connections=None,
               edit=lambda trial: trial["load"].update(rate_rps=3_000.0))  # fmt: skip
    assert lab.ask(x="rate").fired["stall"] == "warning"


def delayed(trial, *, begin_s, until_s):
    """The requests due between two times are sent at the second one, and answered at once."""
    is_late = (trial.start_s >= begin_s) & (trial.start_s < until_s)
    trial.start_s[is_late] = until_s
    return trial


def test_a_gap_of_two_seconds(lab):
    trials = [made_trial(2_000, seed=at, seconds=10.0, stall_s=(4.2, 2.0)) for at in range(3)]
    lab.upload({"alpha": [print_trial("hey CSV", trial) for trial in trials]}, tool="hey")
    assert lab.ask().fired["stall"] == "warning"


@pytest.mark.parametrize(
    "asked",
    [
        {"load": {"requests": 4_000}},
        {"load": {"duration_s": 4.0}},
        {"command": ["hey", "-n", "4000", "-c", "10", "-o", "csv", "http://10.0.0.2/"]},
    ],
)
def test_a_csv_of_hey_that_was_cut_in_half(lab, asked):
    halves = []
    for text in print_trials("hey CSV", (1_000.0, 1_010.0, 990.0), seconds=4.0):
        lines = text.splitlines(keepends=True)
        halves.append("".join(lines[: len(lines) // 2]))

    def edit(trial):
        trial["load"].update(asked.get("load", {}))
        trial.update({name: value for name, value in asked.items() if name != "load"})

    lab.upload({"alpha": halves}, tool="hey", edit=edit)
    assert lab.ask().fired["missing-requests"] == "warning"


def test_a_csv_of_hey_that_was_cut_inside_a_row(lab):
    halves = [text[: len(text) // 2] for text in print_trials("hey CSV", (1_000.0, 1_010.0, 990.0))]
    halves = [text if text[-1] == "," else text[: text.rindex(",") + 1] for text in halves]
    lab.upload({"alpha": halves}, tool="hey")
    assert lab.ask().fired["incomplete"] == "error"


@pytest.mark.parametrize(
    ("resources", "check"),
    [
        ({"client_cpu_per_core": [0.99, 1.0, 0.98, 1.0]}, "client-cores"),
        ({"client_cpu_steal": 0.3}, "cpu-steal"),
    ],
)
def test_a_client_without_processor_time(lab, resources, check):
    lab.upload(texts(), edit=edit_server("beta", resources=resources))
    assert lab.ask().fired[check] == "warning"


def without_keepalive(trial):
    trial["workload"].pop("keepalive")


def test_a_keepalive_line_of_ab_where_nothing_is_declared(lab):
    outputs = every(close_connections, texts("ab"))
    lab.upload(outputs, tool="ab", edit=without_keepalive)
    answer = lab.ask()
    assert answer["ranking"] is None
    assert answer["outcome"]["differing"] == ["server", "keepalive"]
    assert "keep-alive differs: no, yes" in answer.reasons[0]
    assert "keep-alive and no keep-alive" in answer["conditions"]


def test_connections_that_the_command_closes(lab):
    def edit(trial):
        without_keepalive(trial)
        if trial["server"]["name"] == "beta":
            trial["command"] = ["wrk", "-c10", "-H", "Connection: close", "http://10.0.0.2/"]
        else:
            trial["command"] = ["wrk", "-c10", "http://10.0.0.2/"]

    lab.upload(texts(), edit=edit)
    answer = lab.ask()
    assert answer["ranking"] is None
    assert "keep-alive asked for differs: no, yes" in answer.reasons[0]


def test_threads_that_only_the_output_shows(lab):
    lab.upload(every(lambda text: text.replace("2 threads", "8 threads"), texts()))
    assert lab.ask().fired["unequal-threads"] == "warning"


def test_a_version_of_http_that_only_the_output_shows(lab):
    newer = [H2LOAD.replace("369.01ms", f"369.0{at}ms") for at in range(3)]
    older = [text.replace("protocol: h2c", "protocol: http/1.1") for text in newer]
    lab.upload({"alpha": newer, "beta": older}, tool="h2load")
    answer = lab.ask()
    assert answer["ranking"] is None
    assert "version of HTTP differs: h2c, http/1.1" in answer.reasons[0]


def test_governors_that_differ_between_hosts(lab):
    saving = {**SERVER, "facts": {**SERVER["facts"], "cpu_governor": "powersave"}}
    lab.upload({"alpha": print_trials("wrk", RATES)})
    lab.upload({"beta": print_trials("wrk", SLOWER)}, hosts={"client": CLIENT, "server": saving})
    answer = lab.ask()
    assert answer["outcome"]["status"] == "caveats"
    assert "CPU governor of the server host differs: performance, powersave" in answer.reasons


def test_a_restart_that_the_trials_straddle(lab):
    starts = {0: 1, 1: 1, 2: 2}

    def edit(trial):
        trial["load"]["start"] = starts[trial["repeat"]]

    lab.upload({"alpha": print_trials("wrk", RATES)}, edit=edit)
    answer = lab.ask()
    assert answer.fired["restarted"] == "warning"
    assert "the server was started again between trials" in answer.reasons


def test_a_pause_that_the_trials_straddle(lab):
    hours = {0: 10, 1: 10, 2: 16}

    def edit(trial):
        begin = f"2026-01-31T{hours[trial['repeat']]}:0{trial['repeat']}"
        trial["started_at"], trial["finished_at"] = f"{begin}:00Z", f"{begin}:10Z"

    lab.upload({"alpha": print_trials("wrk", RATES)}, edit=edit)
    assert lab.ask().fired["paused"] == "warning"


def raise_count_and_rate(text):
    """wrk's count and rate 20 % higher, and nothing else."""
    count = int(re.search(r"(\d+) requests in", text).group(1))
    rate = float(re.search(r"Requests/sec: +([\d.]+)", text).group(1))
    text = text.replace(f"{count} requests in", f"{round(count * 1.2)} requests in")
    return re.sub(r"Requests/sec: +[\d.]+", f"Requests/sec: {rate * 1.2:9.2f}", text)


def test_a_text_of_wrk_with_count_and_rate_raised(lab):
    lab.upload(every(raise_count_and_rate, texts()))
    answer = lab.ask()
    assert answer.fired["impossible-throughput"] == "error"


@pytest.mark.parametrize("rounds", [3, 5])
def test_one_server_always_measured_after_the_other(lab, rounds):
    slowed = {"alpha": [8_000.0 + at for at in range(rounds)],
              "beta": [7_600.0 + at for at in range(rounds)]}  # fmt: skip
    lab.upload(texts(**slowed), in_order=True)
    assert lab.ask().fired["fixed-order"] == "info"


def test_a_server_whose_output_is_unreadable(lab):
    lab.upload({"alpha": print_trials("wrk", RATES), "beta": ["Segmentation fault"] * 3})
    answer = lab.ask()
    (left_out,) = answer["not_read"]
    assert (left_out["label"], left_out["trials"]) == ("beta 1.0", 3)
    assert answer["outcome"]["status"] == "caveats"
    assert "not shown, because no output could be read: beta 1.0" in answer.reasons


def test_a_server_whose_output_is_truncated(lab):
    cut = [text[: text.index("requests in") - 8] for text in texts()["beta"]]
    lab.upload({"alpha": print_trials("wrk", RATES), "beta": cut})
    answer = lab.ask()
    assert "cut off" in answer["not_read"][0]["reason"]
    assert answer["outcome"]["status"] == "caveats"
