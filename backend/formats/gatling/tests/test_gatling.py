from dataclasses import replace
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
AT = 1795231469000
RUN = f"RUN\tSim\tsim\t{AT}\tload\t3.9.5\n"
OK = f"REQUEST\t\tGET /\t{AT}\t{AT + 20}\tOK\t \n"
KO = f"REQUEST\tshop,cart\tGET /\t{AT}\t{AT + 40}\tKO\tj.i.IOException: Premature close\n"


def capture(name):
    return (CAPTURES / name).read_bytes()


def read(*files):
    texts = [text if isinstance(text, bytes) else text.encode() for text in files]
    return parse([RawArtefact.of(f"file {n}", text) for n, text in enumerate(texts)])


def said(entry):
    """The figures of a reading, without the mark of a cut."""
    return {key: value for key, value in entry.as_dict().items() if key != "incomplete"}


def is_part(found, whole):
    if isinstance(found, dict):
        return all(is_part(value, whole.get(key)) for key, value in found.items())
    return found is None or found == whole


@pytest.mark.parametrize("name", ["open-20rps-2s-refused/stdout", "own-3.14-groups/stdout"])
def test_a_console_that_was_cut_off_never_says_a_wrong_number(name):
    raw = capture(name)
    (whole,) = read(raw)
    for cut in range(0, len(raw), 7):
        try:
            (entry,) = read(raw[:cut])
        except FormatError:
            continue
        assert is_part(said(entry), said(whole)), cut


def test_statistics_that_were_cut_off_are_refused():
    raw = capture("open-40rps-3s/stats.json")
    for cut in range(0, len(raw) - 1, 13):
        with pytest.raises(FormatError):
            read(raw[:cut])


def test_statistics_that_were_cut_off_are_one_refusal():
    raw = capture("own-3.11-groups/stats.json")
    with pytest.raises(FormatError, match="cut off or damaged"):
        read(raw[:6000])


def test_the_global_statistics_alone_are_read():
    text = capture("open-40rps-3s/stats.json").decode()
    inner = text[text.index('"stats": {') + 9 : text.index(',\n"contents"')]
    assert read(inner) == read(text)


def test_counts_that_do_not_add_up_are_refused():
    for name in ("stdout", "stats.json"):
        raw = capture(f"closed-20u-3s-500s/{name}").replace(b"5292", b"5291")
        with pytest.raises(FormatError):
            read(raw)


CASES = ("open-20rps-2s-refused", "own-3.11-groups")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["stdout", "simulation.log"])
def test_a_paste_says_what_the_file_says(case, name):
    raw = capture(f"{case}/{name}")
    lines = raw.split(b"\n")
    whole = [entry.as_dict() for entry in read(raw)]
    for paste in (
        raw.replace(b"\n", b"\r\n"),
        b"\n".join(b"> " + line for line in lines),
        b"$ cat it\n" + raw + b"$ \n",
        raw.decode().encode("utf-16"),
        raw.replace(b"\t", b"    "),
        b"\n".join(line.rstrip() for line in lines),
    ):
        assert [replace(entry, notes=()).as_dict() for entry in read(paste)] == whole


@pytest.mark.long
def test_a_log_of_very_many_runs_is_refused():
    """Each costs as much as a thousand requests: a log of nothing else took minutes."""
    run = "RUN\tSim\tsim\t1795231476474\tload\t3.9.5\n"
    request = "REQUEST\t\thome\t1795231476500\t1795231476510\tOK\t \n"
    assert len(read((run + request) * 100)) == 100
    for many in ((run + request) * 101, run * 20_000):
        with pytest.raises(FormatError, match="more than 100 runs"):
            read(many)


def row(label, total, ok, ko):
    return f"> {label:<82} | {total:>9} | {ok:>9} | {ko:>9}\n"


@pytest.mark.parametrize(
    ("ok", "ko", "failed"), [("48,210", "-", 0), ("-", "48,210", 48210), ("48,200", "10", 10)]
)
def test_a_dash_in_the_row_of_counts_is_none(ok, ko, failed):
    text = f"{'---- Global Information ':-<84}|---Total---|-----OK----|----KO----\n"
    text += row("request count", "48,210", ok, ko)
    for label, ms in (("min", 1), ("max", 207), ("mean", 19)):
        text += row(f"{label} response time (ms)", ms, ms, "-")
    text += row("response time std deviation (ms)", 9, 9, "-")
    text += row("response time 50th percentile (ms)", 17, 17, "-")
    text += row("response time 99th percentile (ms)", 51, 51, "-")
    text += row("mean throughput (rps)", "1,607", "1,607", "-")
    text += f"{'---- Response Time Distribution ':-<120}\n{'=' * 120}\n"
    (trial,) = parse([RawArtefact.of("console", text.encode())])
    assert (trial.outcome.attempts, trial.outcome.failed) == (48210, failed)
    assert (trial.reported_rps, trial.latency.percentiles) == (1607, {"50": 17e3, "99": 51e3})


@pytest.mark.parametrize("name", ["stdout", "simulation.log"])
def test_two_runs_in_one_paste_are_two_entries(name):
    one, other = capture(f"open-40rps-3s/{name}"), capture(f"open-20rps-2s-refused/{name}")
    apart = [entry.figures() for entry in read(one) + read(other)]
    assert [entry.figures() for entry in read(one + other)] == apart


def test_an_error_is_joined_over_its_lines():
    rows = capture("own-3.14-groups/stdout").decode()
    blank = "Request timeout to 127.0.0.1/127.0.0.1:18411 after 100 ms"
    wrapped = f"{'x' * 98}  {'':>10}"
    assert blank in rows
    at = rows.rindex(f"> {blank}")
    text = f"{rows[:at]}> {wrapped}20 (16.95%)\nyy\n{rows[rows.index(chr(10), at) + 1 :]}"
    (trial,) = read(text)
    assert trial.tool_errors["x" * 98 + " yy"] == 20
    # The text tells no class: whether there was a response is unknown.
    assert (trial.errors["other"], trial.requests_completed) == (30, None)


TIMES, ALL_TIMES = f"{AT}\t{AT + 20}", f"{AT}\t{AT + 1}\t{AT + 2}\t{AT + 20}"


@pytest.mark.parametrize(
    ("version", "run", "request_"),
    [
        (None, "RUN\t20120607202804\trun1\tx\n", f"ACTION\ts\t1\tA\t{ALL_TIMES}\tOK\t \n"),
        (None, f"Sim\trun1\tRUN\t{AT}\t \t2.0\n", f"s\t1\tREQUEST\tg\tA\t{ALL_TIMES}\tOK\t \n"),
        (
            None,
            f"RUN\tSim\t\trun1\t{AT}\t \t2.0\n",
            f"REQUEST\ts\t1\t\tA\t{TIMES}\tOK\t \tmore\tof it\n",
        ),
        ("3.3.1", f"RUN\tSim\tsim\t{AT}\t \t3.3.1\n", f"REQUEST\t1\t\tA\t{TIMES}\tOK\t \n"),
        ("3.9.5", RUN, OK),
    ],
)
def test_a_log_of_each_version(version, run, request_):
    (trial,) = read(run + request_)
    assert (trial.tool_version, trial.samples, trial.requests_ok) == (version, 1, 1)
    assert (trial.latency.max_us, trial.elapsed_s) == (20_000, 0.02)


def test_a_log_has_a_histogram_and_a_timeline():
    (trial,) = read(RUN + OK * 3 + KO)
    assert (trial.histogram.count, trial.requests_completed, trial.errors["read"]) == (4, 3, 1)
    assert [(part.completed, part.failed) for part in trial.timeline] == [(3, 1)]


def test_a_first_record_with_cells_too_many_is_no_fault_of_the_others():
    (trial,) = read("x\t" * 30 + "\n" + RUN + OK)
    assert trial.samples == 1


def test_what_could_not_be_sent_is_no_request():
    (trial,) = read(RUN + OK + f"ERROR\tFailed to build it: no x\n behind it\t{AT}\n" + OK)
    assert (trial.samples, trial.requests_completed, trial.errors["other"]) == (2, 2, 1)


@pytest.mark.parametrize(
    "broken",
    [
        "junk\n",
        OK.replace("\tOK\t", "\tO\t"),
        OK.replace(str(AT), "-5"),
        OK.replace(str(AT + 20), str(AT - 20)),
        OK.rstrip("\n"),
        OK.replace("\t \n", "\t"),
    ],
)
def test_a_broken_record_is_named(broken):
    with pytest.raises(FormatError, match=r"Line 3\."):
        read(RUN + OK + broken + OK)


@pytest.mark.long
def test_a_record_that_is_cut_off_is_left_out_and_said():
    rows = (RUN + OK + KO).encode()
    for cut in range(len((RUN + OK).encode()) + 1, len(rows)):
        (trial,) = read(rows[:cut])
        assert (trial.samples, trial.incomplete) == (1, True)
    (trial,) = read((RUN + OK + OK).rstrip("\n "))
    assert (trial.samples, trial.incomplete) == (2, False)


def test_a_binary_log_is_said_beside_what_was_read():
    log = capture("own-3.14-groups/simulation.log")
    with pytest.raises(FormatError, match=r"Gatling 3\.14\.3"):
        read(log)
    (trial,) = read(log, capture("own-3.14-groups/stdout"))
    assert "file 0 was not read" in trial.disagreements[0]


def test_logs_of_several_injectors_are_not_one_trial():
    with pytest.raises(FormatError, match="do not belong to one trial"):
        read(RUN + OK, RUN + OK)


def test_a_file_without_a_run_leaves_the_others_as_they_are():
    title = b"---- Global Information\n"
    with pytest.raises(FormatError, match="cut off before its totals"):
        read(title, title)
