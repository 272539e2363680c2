"""What stands before each line of a log is removed, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.decoding import decode
from backend.formats.prefixes import plain_texts
from backend.formats.tests.test_captures import FORMATS
from backend.formats.text import HEAD_BYTES

WRK = (FORMATS / "wrk/tests/captures/latency-c10-10k/stdout").read_text()
HEY = (FORMATS / "hey/tests/captures/n600-c20-500s-text/stdout").read_text()

PREFIXES = {
    "GitHub Actions": "2026-01-02T03:04:05.1234567Z ",
    "gh run view --log": "load\tRun wrk\t2026-01-02T03:04:05.1234567Z ",
    "GitLab": "2026-01-02T03:04:05.123456Z 01O ",
    "kubectl logs --timestamps": "2026-01-02T03:04:05.123456789+01:00 ",
    "kubectl logs --prefix": "[pod/load-x2/load] ",
    "a container's log": "2026-01-02T03:04:05.123456789Z stdout F ",
    "Jenkins": "[2026-01-02T03:04:05.123Z] ",
    "Jenkins with times": "12:34:56  ",
    "Jenkins with times in brackets": "[12:34:56] ",
    "docker compose 2": "\x1b[36mload-1  | \x1b[0m",
    "docker compose 1": "\x1b[36mload_1  |\x1b[0m ",
    "docker compose logs -t": "load-1  | 2026-01-02T03:04:05.123456789Z ",
    "docker compose in GitHub Actions": "2026-01-02T03:04:05.1234567Z load-1  | ",
    "journalctl": "Jan  2 03:04:05 host load.sh[4711]: ",
    "Maven": "[INFO] ",
    "sbt": "[info] ",
    "a comment of Python": "# ",
    "a comment of Java": "     * ",
    "a comment of Go": "// ",
    "Vagrant": "    default: ",
}


def behind(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def plain(text):
    """Name, text and notes of each piece."""
    return [
        (piece.artefact.name, piece.artefact.open().read().decode(), piece.notes)
        for piece in plain_texts(RawArtefact.of("log", text.encode()))
    ]


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_report_behind_a_prefix_is_the_report(prefix):
    ((name, text, notes),) = plain(behind(prefix, WRK))
    assert (name, text) == ("log", WRK)
    assert notes
    assert all("removed" in note for note in notes)


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_prefix_without_its_last_space_stands_before_blank_lines(prefix):
    lines = behind(prefix, HEY).splitlines()
    ((_, text, _),) = plain("".join(f"{line.rstrip(' ')}\n" for line in lines))
    assert [line.rstrip() for line in text.splitlines()] == [
        line.rstrip() for line in HEY.splitlines()
    ]


def test_the_trial_says_what_was_removed():
    (trial,) = parse([RawArtefact.of("log", behind("load-1  | ", WRK).encode())])
    assert trial.as_dict()["notes"] == ["Before each line docker compose's name was removed."]


def test_lines_of_several_services_are_texts_of_their_own():
    mixed = "".join(f"load-1    | {line}\nserver-1  | GET /\n" for line in WRK.splitlines())
    pieces = plain("Attaching to load-1, server-1\n" + mixed + "load-1 exited with code 0\n")
    assert [(name, text) for name, text, _ in pieces] == [
        ("log (load-1)", WRK),
        ("log (server-1)", "GET /\n" * len(WRK.splitlines())),
    ]


def test_a_service_that_speaks_late_is_found():
    server = "server-1  | GET /\n" * (HEAD_BYTES // 10)
    pieces = plain(server + behind("load-1  | ", WRK))
    assert pieces[1][:2] == ("log (load-1)", WRK)


def test_numbers_of_lines_stay():
    broken = WRK.replace(" requests in ", " requests on ")
    with pytest.raises(FormatError) as alone:
        parse([RawArtefact.of("log", broken.encode())])
    with pytest.raises(FormatError) as prefixed:
        parse([RawArtefact.of("log", behind("12:34:56  ", broken).encode())])
    assert prefixed.value.line == alone.value.line


@pytest.mark.parametrize(
    "text",
    [
        WRK,
        "a | b\n1 | 2\n",
        "2026-01-02T03:04:05Z,200,0.1\n" * 5,
        "12:34:56 one\n" * 5,
        "".join(f"row{n} | {n}\n" for n in range(50)),
        "",
    ],
)
def test_a_text_without_a_prefix_is_left_as_it_is(text):
    assert plain(text) == [("log", text, ())]


@given(
    st.lists(st.sampled_from(["a\n", "\n", "x | y\n", "12:34:56  z\n", "\u00b5\n"]), max_size=20)
)
def test_what_stands_behind_a_prefix_stays(lines):
    text = "".join(lines)
    pieces = plain("".join(f"[pod/x/y] {line}" for line in lines))
    if len(lines) >= 3 and len(pieces) == 1 and len(pieces[0][2]) == 1:
        assert pieces[0][1] == text


@pytest.mark.parametrize("count", [1, 50, 200_000])
def test_bytes_of_windows_are_letters_and_others_no_text(count):
    assert decode(b"1.5\xb5s ") == "1.5\u00b5s "
    assert decode("\u00b5".encode() + b"\xb5") == "\u00b5\u00b5"
    assert set(decode(b"\xb5" * count)) <= {"\u00b5", "\ufffd"}


# What a runner of GitHub writes around a step that runs a benchmark.
RUNNER_BEFORE = (
    "Current runner version: '2.321.0'",
    "##[group]Runner Image",
    "Image: ubuntu-24.04",
    "##[endgroup]",
    "[command]/usr/bin/git version",
    "git version 2.47.1",
    "##[warning]Node.js 16 actions are deprecated",
    "##[group]Run ./bench.sh",
    "shell: /usr/bin/bash -e {0}",
    "##[endgroup]",
)
RUNNER_AFTER = ("##[debug]Finishing: Run ./bench.sh", "##[section]Finishing: bench")


def runner_log(report, *, is_stamped=True):
    lines = [*RUNNER_BEFORE, *report.splitlines(), *RUNNER_AFTER]
    stamp = "2026-11-22T09:12:00.1234567Z " if is_stamped else ""
    return "\ufeff" + "".join(f"{stamp}{line}\n" for line in lines)


@pytest.mark.parametrize("is_stamped", [True, False])
@pytest.mark.parametrize("capture", ["autocannon/c10-close-json", "bombardier/c10-r200-3s-json"])
def test_a_report_in_the_log_of_a_runner_is_the_report(capture, is_stamped):
    tool, name = capture.split("/")
    report = (FORMATS / tool / "tests" / "captures" / name / "stdout").read_text()
    (alone,) = parse([RawArtefact.of("stdout", report.encode())])
    log = runner_log(report, is_stamped=is_stamped)
    (trial,) = parse([RawArtefact.of("log.txt", log.encode())])
    assert trial.requests_completed == alone.requests_completed
    assert trial.latency == alone.latency
    assert "Lines of the CI runner about itself were left out." in trial.notes


def test_a_command_that_a_runner_shows_stays_beside_its_output():
    wrk = (FORMATS / "wrk/tests/captures").glob("*/stdout")
    report = next(path.read_text() for path in sorted(wrk) if path.read_text().strip())
    log = f"[command]/usr/bin/wrk -c7 http://127.0.0.1/\n{report}"
    (trial,) = parse([RawArtefact.of("log.txt", log.encode())])
    assert trial.command == "/usr/bin/wrk -c7 http://127.0.0.1/"


def test_the_lines_of_several_services_are_parted_once():
    """Each text of a service is looked through again, so 20 names in each layer were 160,000."""
    lines = "".join(f"web{at % 20}  | w{at // 20 % 20}  | x\n" for at in range(2_000))
    texts = plain_texts(RawArtefact.of("out.txt", lines.encode()))
    assert len(texts) == 20
    assert all(b"w19  | x" in text.artefact.open().read() for text in texts)


@pytest.mark.parametrize(
    "text",
    [
        behind("# ", WRK) + WRK,
        "".join(f"    {name}: 1.5\n" for name in ("min", "max", "median", "p95", "p99")),
        "# loadsheet published table\n# source: A\n# published: 2009\nserver,mean_ms\nA,1.5\n",
    ],
    ids=["a part of the lines", "labels", "a published table"],
)
def test_what_only_looks_like_a_comment_or_a_name_stays(text):
    assert plain(text) == [("log", text, ())]
