from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
ROW = b"1795230791.75;<0.195.0>;2;get;127.0.0.1;/a;b;200;185;26.307;-;;;\n"


def capture(name):
    return (CAPTURES / name).read_bytes()


def read(*files):
    return parse([RawArtefact.of(f"file {n}", text) for n, text in enumerate(files)])


def test_a_log_without_its_end_is_refused():
    raw = capture("own-long/tsung.log")
    end = raw.index(b"EndMonitor:")
    for cut in range(0, end, 11):
        with pytest.raises(FormatError):
            read(raw[:cut])
    assert read(raw[: end + 15]) == read(raw)


def test_the_mean_is_of_all_dumps_and_the_deviation_unknown():
    (trial,) = read(capture("own-long/tsung.log"))
    assert trial.latency.mean_us == pytest.approx((50 * 19566.72 + 170 * 20192.36470588) / 220)
    assert trial.latency.stdev_us is None


def test_two_logs_in_one_paste_are_two_runs():
    runs = read(capture("own-long/tsung.log") + b"$\n" + capture("rate20-3s-500s/tsung.log"))
    assert [run.requests_completed for run in runs] == [197, 368]


def test_classes_of_errors():
    text = capture("rate20-3s-500s/tsung.log").replace(
        b"stats: error_abort 1 1\n",
        b"stats: error_timeout 1 3\nstats: error_connect_etimedout 2 2\n"
        b"stats: error_send_closed 1 1\nstats: error_connect_econnrefused 1 5\n",
    )
    (trial,) = read(text)
    assert trial.errors == {"connect": 7, "timeout": 3, "write": 1, "status": 66}


def test_a_broken_statistic_is_named():
    raw = capture("rate20-3s-500s/tsung.log").replace(b"stats: 500 66 66", b"stats: 500 66")
    with pytest.raises(FormatError, match=r"Line 17\."):
        read(raw)


def test_a_dump_has_a_timeline_and_a_histogram():
    (trial,) = read(capture("own-long/tsung.dump"))
    assert trial.histogram.count == 152
    assert sum(part.completed for part in trial.timeline) == 152
    assert sum(part.failed for part in trial.timeline) == 18


def test_a_dump_that_lost_its_tail_disagrees_with_its_log():
    (trial,) = read(capture("own-long/tsung.dump"), capture("own-long/tsung.log"))
    assert (trial.requests_completed, trial.samples) == (197, None)
    assert "requests_completed is 197 in file 1 and 152 in file 0" in trial.disagreements


def test_a_path_may_hold_semicolons():
    assert read(ROW * 3)[0].bytes_received == 555


@pytest.mark.parametrize("broken", [b"1795;<0.1.0>;x\n", ROW.replace(b"26.307", b"-1"), b"junk\n"])
def test_a_broken_row_is_named(broken):
    with pytest.raises(FormatError, match=r"Line 3\."):
        read(ROW * 2 + broken + ROW)


def test_a_row_that_is_cut_off_is_left_out():
    assert read(ROW * 2 + ROW[:40])[0].samples == 2


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ((b'"max"', b'"mx"'), "no max"),
        ((b'"max": 20', b'"max": [20]'), "'[20]' as a figure of"),
        ((b'"max": 20', b'"max": 1e400'), "'inf' as a figure of"),
    ],
)
def test_a_damaged_figure_of_the_json_is_said_in_words(damage, found):
    samples = b'[{"name": "finish_users_count", "value": 1, "max": 20}]'
    text = b'{"stats": [{"timestamp": 1, "samples": %s}]}' % samples
    with pytest.raises(FormatError) as refused:
        read(text.replace(*damage))
    assert found in refused.value.found


def test_a_first_row_of_a_dump_that_was_damaged_is_refused_and_not_passed_over():
    assert read(b"$ cat tsung.dump\n" + ROW * 3)[0].samples == 3
    with pytest.raises(FormatError, match="Line 1"):
        read(b"10 % done\r" + ROW * 3)
