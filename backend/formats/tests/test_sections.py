"""Outputs of several runs or tools in one text: each is read alone, or the text is refused."""

import pytest

from backend.formats import FormatError, ParsedTrial, RawArtefact, parse
from backend.formats.commands import find_commands
from backend.formats.tests.test_captures import FORMATS

CAPTURES = {
    "ab": "quiet-noperc-post/stdout",
    "autocannon": "c10-3s-text/stderr",
    "bombardier": "c10-n1000-text/stdout",
    "fortio": "c10-max-n3000-text/stderr",
    "h2load": "h1-rate20-period1s-c60/stdout",
    "hey": "n600-c20-500s-text/stdout",
    "httperf": "rate100-rand-200conns/stdout",
    "k6": "vus5-2s-banner-text/stdout",
    "oha": "c10-3s-text/stdout",
    "plow": "c10-n2000-text/stdout",
    "siege": "text-c10-r50/stderr",
    "vegeta": "rate100-3s-500s-text/stdout",
    "weighttp": "v04-err500-c10/stdout",
    "wrk": "latency-c10-10k/stdout",
}
REPORTS = {
    tool: (FORMATS / tool / "tests/captures" / path).read_text() for tool, path in CAPTURES.items()
}
WRK2 = (FORMATS / "wrk2/tests/captures/calibrated-rate400/stdout").read_text()
# hey's report begins as oha's goes on.
NOT_CERTAIN = (("oha", "hey"),)
PAIRS = [(first, second) for first in REPORTS for second in REPORTS if first != second]


def read(text):
    return parse([RawArtefact.of("paste", text.encode())])


def figures(trial):
    shown = trial.as_dict()
    return {key: value for key, value in shown.items() if key not in ("command", "lines")}


def figures_without_notes(trial):
    return {key: value for key, value in figures(trial).items() if key != "notes"}


def split(tool):
    return REPORTS[tool].splitlines()


def alone(tool):
    (trial,) = read(REPORTS[tool])
    return figures(trial)


# Of another run of the same tool, without its first lines.
TAILS = {
    "ab": """Complete requests:      700
Failed requests:        0
Non-2xx responses:      9
Requests per second:    65.10 [#/sec] (mean)
Time per request:       153.610 [ms] (mean)
Transfer rate:          31.20 [Kbytes/sec] received
""",
    "autocannon": """│ Req/Sec   │ 212    │ 212    │ 301    │ 330    │ 289.4  │ 33.15  │ 212    │
│ Bytes/Sec │ 45 kB  │ 45 kB  │ 64 kB  │ 70 kB  │ 61 kB  │ 7.1 kB │ 45 kB  │

12 2xx responses, 700 non 2xx responses
""",
    "hey": """  Slowest:\t0.9120 secs
  Fastest:\t0.0031 secs
  Average:\t0.0712 secs
  Requests/sec:\t71.3310

Error distribution:
  [7]\tGet "http://10.1.0.9:80/": EOF
""",
    "siege": """Elapsed time:\t\t        4.51 secs
Transaction rate:\t       11.10 trans/sec
Concurrency:\t\t        3.02
Successful transactions:          50
Failed transactions:\t           7
""",
    "wrk": """  905 requests in 10.02s, 160.10KB read
  Socket errors: connect 0, read 7, write 0, timeout 0
Requests/sec:     90.32
Transfer/sec:     15.98KB
""",
}


@pytest.mark.parametrize("tool", TAILS)
def test_the_end_of_another_report_below_a_report_is_told_and_no_part_of_it(tool):
    (alone,) = read(REPORTS[tool])
    trial, *told = read(f"{REPORTS[tool].rstrip()}\n\n{TAILS[tool]}")
    assert {**figures(trial), "incomplete": None} == {**figures(alone), "incomplete": None}
    assert len(told) == 1
    assert "not read" in told[0].reason


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_reports_of_two_tools_below_their_commands(first, second):
    text = "".join(
        f"$ {tool} -c10 http://127.0.0.1/\n{REPORTS[tool]}\n" for tool in (first, second)
    )
    trials = read(text)
    assert [figures(trial) for trial in trials] == [alone(first), alone(second)]
    assert [trial.command for trial in trials] == [
        f"{tool} -c10 http://127.0.0.1/" for tool in (first, second)
    ]


def below_each_other(*tools):
    return "\n\n".join(REPORTS[tool].rstrip() for tool in tools) + "\n"


@pytest.mark.parametrize(("first", "second"), sorted(set(PAIRS) - set(NOT_CERTAIN)))
def test_reports_of_two_tools_below_each_other(first, second):
    trials = read(below_each_other(first, second))
    assert [figures(trial) for trial in trials] == [alone(first), alone(second)]


@pytest.mark.parametrize(("first", "second"), NOT_CERTAIN)
def test_a_cut_that_is_not_certain_is_told(first, second):
    with pytest.raises(FormatError, match="where one ends and the next begins is not certain"):
        read(below_each_other(first, second))


def test_tools_may_take_turns():
    tools = ["wrk", "ab", "wrk", "siege", "ab"]
    trials = read(below_each_other(*tools))
    assert [figures(trial) for trial in trials] == [alone(tool) for tool in tools]
    starts = [trial.lines[0] for trial in trials]
    assert starts == sorted(starts)


def test_rows_of_a_table_that_lost_its_frame_are_told():
    rows = "Stat │ 50% │ 99% │ Avg │ Max\n\nLatency │ 903 ms │ 1501 ms │ 911.2 ms │ 2 s\n"
    trial, told = read(f"{REPORTS['autocannon']}\n### Large\n\n{rows}")
    assert figures(trial) == figures(read(REPORTS["autocannon"])[0])
    assert "Lines" in told.reason
    assert "not read" in told.reason


def test_a_prompt_between_two_reports_belongs_to_the_second():
    prompt = "user@host:~$ ./measure.sh next"
    first, second = read(f"{REPORTS['wrk']}\n{prompt}\n{REPORTS['ab']}")
    assert second.lines[0] == first.lines[1] + 1
    assert second.lines[0] == REPORTS["wrk"].count("\n") + 2


def test_several_runs_of_one_tool_have_their_commands_and_lines():
    commands = ["wrk -t2 -c10 http://127.0.0.1/", "./wrk -t4 -c100 http://127.0.0.1/"]
    text = "".join(f"user@host:~$ {command}\n{REPORTS['wrk']}" for command in commands)
    trials = read(text)
    lines = REPORTS["wrk"].count("\n") + 1
    assert [trial.command for trial in trials] == commands
    assert trials[0].lines == (1, lines)
    assert trials[1].lines[0] == lines + 1


def test_a_report_alone_has_its_command_and_no_lines():
    (trial,) = read(f"$ hey -n 600 -c 20 http://127.0.0.1/\n{REPORTS['hey']}")
    assert (trial.command, trial.lines) == ("hey -n 600 -c 20 http://127.0.0.1/", None)


def test_a_command_of_another_tool_is_not_the_command():
    (trial,) = read(f"$ ab -n 5 http://127.0.0.1/\n{REPORTS['wrk']}")
    assert trial.command == ""


def test_wrk_and_wrk2_are_told_apart_by_their_commands():
    trials = read(f"$ wrk -c10 http://a/\n{REPORTS['wrk']}\n$ wrk -R400 http://a/\n{WRK2}")
    assert [(trial.tool, trial.command) for trial in trials] == [
        ("wrk", "wrk -c10 http://a/"),
        ("wrk2", "wrk -R400 http://a/"),
    ]


def test_a_run_that_failed_is_refused_with_its_line_and_the_others_are_read():
    broken = REPORTS["wrk"].replace(" requests in ", " requests on ")
    text = f"$ wrk -c1 http://a/\n{broken}$ ab -n 5 http://a/\n{REPORTS['ab']}"
    refused, trial = read(text)
    assert refused.reason.startswith("The wrk report")
    assert trial.tool == "ab"
    assert 1 < refused.line <= broken.count("\n") + 2


def test_a_log_of_a_job_that_ran_several_tools():
    steps = [f"##[group]Run {tool} -c10 http://a/\n{REPORTS[tool]}" for tool in ("wrk", "hey")]
    log = "".join(f"2026-01-02T03:04:05.1234567Z {line}\n" for line in "".join(steps).splitlines())
    trials = read(log)
    assert [figures_without_notes(trial) for trial in trials] == [alone("wrk"), alone("hey")]
    assert [trial.command for trial in trials] == [f"{x} -c10 http://a/" for x in ("wrk", "hey")]
    assert all("a time was removed" in trial.notes[0] for trial in trials)


def test_several_services_of_docker_compose_are_several_trials():
    log = "".join(f"{tool}-1  | {line}\n" for tool in ("wrk", "ab") for line in split(tool))
    log += "server-1  | GET /\n" * 20
    assert [trial.tool for trial in read(log)] == ["wrk", "ab"]


def test_a_hint_refuses_the_other_tools():
    text = f"$ wrk -c1 http://a/\n{REPORTS['wrk']}$ ab -n 5 http://a/\n{REPORTS['ab']}"
    trial, refused = parse([RawArtefact.of("paste", text.encode())], tool="wrk")
    assert isinstance(trial, ParsedTrial)
    assert "from ab, not from wrk" in str(refused)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ wrk -t2 -c10 http://a/", "wrk -t2 -c10 http://a/"),
        ("user@host:~/bench$ sudo ./wrk -c1 http://a/", "sudo ./wrk -c1 http://a/"),
        ("[root@host ~]# ab -n 1 http://a/", "ab -n 1 http://a/"),
        ("host% hey http://a/", "hey http://a/"),
        ("PS C:\\bench> .\\k6.exe run -u 5 a.js", ".\\k6.exe run -u 5 a.js"),
        ("+ taskset -c 1 wrk -c1 http://a/", "taskset -c 1 wrk -c1 http://a/"),
        ("##[group]Run oha http://a/", "oha http://a/"),
        ("##[command]wrk -c1 http://a/", "wrk -c1 http://a/"),
        ("$ echo GET http://a/ | vegeta attack | vegeta report", None),
        ("$ docker run --rm me/wrk:4 -c1 http://a/", "docker run --rm me/wrk:4 -c1 http://a/"),
        ("# wrk results", None),
        ("> wrk is fast", None),
        ("Running 10s test @ http://a/", None),
        ("$ ls wrk", None),
        ('$ cat "wrk', None),
        ("costs 5$ wrk -c1", None),
    ],
)
def test_commands_are_recognised_where_they_are_plain(line, command):
    texts = [found.text for found in find_commands([line])]
    wanted = line.removeprefix("$ ") if "vegeta" in line else command
    assert texts == ([] if wanted is None else [wanted])
