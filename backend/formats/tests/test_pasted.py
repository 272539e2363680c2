"""What people paste says what the clean capture says, or is refused: never another figure."""

from dataclasses import replace

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.tests.test_captures import EXPECTATIONS, FORMATS, files_of

PROMPT = "user@host:~/bench$ load http://127.0.0.1:8080/\n"
ROOT_PROMPT = "[root@host ~]# load 100 200\n"
MOST_BYTES = 30_000


# What a reading says of the text around an output.
NO_SURROUNDINGS = {"notes": (), "command": "", "lines": None}


def is_text(data):
    try:
        return "\0" not in data.decode() and len(data) <= MOST_BYTES
    except UnicodeDecodeError:
        return False


def is_report(path):
    """Whether this is a report for people, not a file of rows or a document."""
    head = path.read_bytes()[:400].decode(errors="replace").lstrip()
    first = head.partition("\n")[0]
    return path.suffix == "" and head[:1] not in "{[<" and first.count(",") < 4


# The captures called odd-… are pastes themselves.
CLEAN = sorted(
    {
        path
        for expectation in EXPECTATIONS
        for path in files_of(expectation)
        if not path.parent.name.startswith("odd-") and is_text(path.read_bytes())
    }
)
REPORTS = [path for path in CLEAN if is_report(path)]
ROWS_AND_DOCUMENTS = [path for path in CLEAN if not is_report(path)]


def ended(text):
    return text if text.endswith("\n") else text + "\n"


def each_line(change):
    return lambda text: "\n".join(change(line) if line else "" for line in text.split("\n"))


def with_thousands(mark):
    """Another separator where commas stand between thousands and nothing else."""

    def change(word):
        parts = word.split(",")
        grouped = len(parts) > 1 and parts[0].isdigit() and len(parts[0]) <= 3
        rest = [part.partition(".")[0] for part in parts[1:]]
        is_number = grouped and all(len(part) == 3 and part.isdigit() for part in rest)
        return mark.join(parts) if is_number else word

    return each_line(lambda line: " ".join(map(change, line.split(" "))))


PASTES = {
    "a prompt before and after": lambda text: PROMPT + ended(text) + "user@host:~/bench$ \n",
    "root's prompt": lambda text: ROOT_PROMPT + ended(text) + "[root@host ~]# exit\n",
    "in a fence": lambda text: "What I got:\n\n```\n" + ended(text) + "```\nThanks!\n",
    "coloured": lambda text: "\x1b[1;32m" + text.replace("\n", "\x1b[0m\n\x1b[32m") + "\x1b[0m",
    "behind progress": lambda text: "  10% done\r  50% done\r 100% done\r" + text,
    "with CRLF": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "with a mark": lambda text: "\ufeff" + text,
    "with a mark behind a prompt": lambda text: PROMPT + "\ufeff" + text,
    "tabs as 8 spaces": lambda text: text.expandtabs(8),
    "tabs as a space": lambda text: text.replace("\t", " "),
    "white space collapsed": each_line(lambda line: " ".join(line.split())),
    "indented": each_line(lambda line: "    " + line),
    "quoted in a mail": each_line(lambda line: "> " + line),
    "between blank lines": lambda text: "\n\n" + text + "\n\n",
    "in a log of GitHub": each_line(lambda line: f"2026-01-02T03:04:05.1234567Z {line}"),
    "in a log of kubectl": each_line(
        lambda line: f"[pod/load-x2/load] 2026-01-02T03:04:05.123456789Z {line}"
    ),
    "beside another service": lambda text: "".join(
        f"load-1    | {line}\nserver-1  | GET / 200\n" for line in text.split("\n")
    ),
    "with a title of the window": lambda text: "\x1b]0;load\x07\x1b(B\x1b[0m\x1b[2K" + text,
    "thousands by narrow space": with_thousands("\u202f"),
    "thousands by apostrophe": with_thousands("'"),
    "thousands by nothing": with_thousands(""),
}


def is_of_windows(text):
    """Whether a Windows code page has all of its letters."""
    try:
        return not text.isascii() and bool(text.encode("cp1252"))
    except UnicodeEncodeError:
        return False


def read(text, name, encoding="utf-8"):
    """Each run's figures; a refusal's sentence where there are none."""
    try:
        entries = parse([RawArtefact.of(name, text.encode(encoding))])
    except FormatError as refused:
        entries = [refused]
    return [
        str(one) if isinstance(one, FormatError) else replace(one, **NO_SURROUNDINGS).as_dict()
        for one in entries
    ]


def has_figures(path):
    return any(isinstance(entry, dict) for entry in read(path.read_text(), path.name))


def figures(entries):
    """The entries without the words of refusals, which name lines that a paste moves."""
    return [None if isinstance(entry, str) else entry for entry in entries]


def name_of(path):
    return str(path.relative_to(FORMATS)).replace("/tests/captures", "")


@pytest.mark.long
@pytest.mark.parametrize("path", REPORTS, ids=name_of)
def test_a_pasted_report_says_the_same(path):
    text = path.read_text()
    clean = figures(read(text, path.name))
    for how, paste in PASTES.items():
        assert figures(read(paste(text), path.name)) == clean, how
    assert figures(read(text, path.name, "utf-16")) == clean
    if is_of_windows(text):
        assert figures(read(text, path.name, "cp1252")) == clean


@pytest.mark.parametrize("path", list(filter(has_figures, REPORTS)), ids=name_of)
def test_two_runs_in_one_paste_are_two_trials(path):
    text = ended(path.read_text())
    clean = figures(read(PROMPT + text + PROMPT, path.name))
    assert figures(read(PROMPT + text + PROMPT + text + PROMPT, path.name)) == clean * 2


@pytest.mark.long
@pytest.mark.parametrize("path", ROWS_AND_DOCUMENTS, ids=name_of)
def test_a_pasted_file_says_the_same_or_is_refused_or_says_less(path):
    text = path.read_text()
    clean = read(text, path.name)
    for how, paste in PASTES.items():
        pasted = read(paste(text), path.name)
        assert len(pasted) == len(clean), how
        for before, after in zip(clean, pasted, strict=True):
            if isinstance(after, str):
                assert isinstance(before, str) or "Expected:" in after, how
            else:
                assert says_no_other(before, after), how


def says_no_other(before, after):
    """Whether every figure is the same, or null where it was known."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(says_no_other(before.get(key), value) for key, value in after.items())
    return after is None or after == before
