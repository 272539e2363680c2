"""Secrets: none is left in what is kept, and no number changes."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from pathlib import Path
from urllib.parse import quote

import pytest

from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.tools import TOOLS
from loadsheet_agent.upload.redaction import BLOCK_BYTES, MARK, Redactor, is_sensitive
from loadsheet_agent.upload.secrets import redactor_for

ROOT = Path(__file__).resolve().parents[3]
NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*")


def secret(draw: random.Random, number: int) -> str:
    """Letters first and no digit run of its own, so that numbers can be counted around it."""
    alphabet = string.ascii_letters + "-_~!*"
    return "S" + "".join(draw.choice(alphabet) for _ in range(18)) + f"x{number}z"


def planted() -> list[tuple[str, str, str]]:
    """(tool, secret, line with it): four places in the manner of each of the fifteen tools."""
    draw = random.Random(7)
    lines = []
    for count, tool in enumerate(TOOLS):
        a, b, c, d = (secret(draw, count * 4 + number) for number in range(4))
        user = base64.b64encode(f"joe:{c}".encode()).decode()
        lines += [
            (tool, a, f"Get http://127.0.0.1:8000/hello?size=5&access_token={a}&page=2: EOF"),
            (tool, b, f'{{"url":"http://h:80/","headers":{{"X-Api-Key":["{b}"]}},"count":17}}'),
            (tool, user, f"{tool} -c 8 -H 'Authorization: Basic {user}' http://127.0.0.1:8000/"),
            (tool, d, f"warning: http://joe:{d}@127.0.0.1:8000/ answered 503 after 12.5 ms"),
        ]
    return lines


def captures(tool: str) -> list[str]:
    """Real outputs of the tool, as text; what is binary is not looked through."""
    paths = sorted((ROOT / "backend" / "formats" / tool / "tests/captures").glob("*/*"))
    names = ("cmd", "exit_code", "expected.json")
    found = [path.read_bytes() for path in paths if path.name not in names]
    return [each.decode("latin-1") for each in found if b"\0" not in each[:8192]]


def test_there_are_sixty():
    assert len({each[1] for each in planted()}) == 60


@pytest.mark.parametrize("tool", TOOLS)
def test_planted_secrets_are_gone_and_numbers_are_not(tool: str, tmp_path: Path):
    outputs = captures(tool)
    assert outputs
    mine = [(hidden, line) for name, hidden, line in planted() if name == tool]
    for number, text in enumerate(outputs):
        lines = text.split("\n")
        for place, (_, line) in enumerate(mine):
            lines.insert((place + 1) * len(lines) // 5, line)
        path = tmp_path / f"{number}.txt"
        path.write_bytes("\n".join(lines).encode("latin-1"))
        assert Redactor().file(path)
        kept = path.read_bytes().decode("latin-1")
        for hidden, _ in mine:
            assert hidden not in kept
        left = [line for line in kept.split("\n") if MARK not in line]
        assert len(left) == len(lines) - len(mine), "only the planted lines were touched"
        for place, (hidden, line) in enumerate(mine):
            (changed,) = (each for each in kept.split("\n") if MARK in each and _like(each, line))
            assert NUMBER.findall(changed) == NUMBER.findall(line.replace(hidden, MARK)), place


def _like(changed: str, line: str) -> bool:
    return changed.startswith(line[:12]) and changed.endswith(line[-6:])


@pytest.mark.parametrize("tool", TOOLS)
def test_an_output_without_secrets_stays_the_same_to_the_byte(tool: str, tmp_path: Path):
    for text in captures(tool):
        path = tmp_path / "output"
        path.write_bytes(text.encode("latin-1"))
        before = path.stat().st_ino
        assert not Redactor(["Bearer never-there"]).file(path)
        assert (path.read_bytes().decode("latin-1"), path.stat().st_ino) == (text, before)


PLAN = """
[[servers]]
name = "a"
url = "http://127.0.0.1:1"
start = ["x"]
environment = { DB_PASSWORD = "correct horse" }
configuration = { api_key = "conf-k3y-value", workers = 4 }
[[workloads]]
name = "w"
path = "/x?sig=s1gn4ture&n=5"
[workloads.headers]
Authorization = "Basic am9lOmh1c2gtaHVzaA=="
"X-Odd" = "{env:ODD}"
Accept = "text/plain"
"""


def test_what_the_plan_says_is_secret_is_found_however_it_is_written(tmp_path: Path):
    odd = 'é"quoted & spaced/'
    plan = parse_plan(
        PLAN.replace("X-Odd", "X-Odd-Token"),
        name="p",
        directory=tmp_path,
        environ={"ODD": "fine-value"},
    )
    assert "fine-value" in plan.secrets
    redactor = Redactor([odd])
    forms = [
        odd,
        quote(odd),
        quote(odd, safe=""),
        json.dumps(odd)[1:-1],
        odd.encode().decode("latin-1"),
    ]
    for form in forms:
        assert redactor.text(f"before {form} after 5.5") == f"before {MARK} after 5.5"
    redactor = redactor_for(plan, None)
    hidden = ["correct horse", "conf-k3y-value", "s1gn4ture", "hush-hush", "fine-value"]
    for value in (*hidden, "am9lOmh1c2gtaHVzaA"):
        assert value not in redactor.text(f"x {value} y")
    kept = redactor.text(plan.text)
    assert not [value for value in hidden[:4] if value in kept]
    assert "workers = 4" in kept
    assert 'Accept = "text/plain"' in kept


def test_numbers_are_never_taken_out_by_value():
    redactor = Redactor(["1234567", "12.5", "short", "-7,000"])
    text = "1234567 requests in 12.5 s, -7,000 short"
    assert redactor.text(text) == text
    assert redactor.text("http://h/?token=1234567") == f"http://h/?token={MARK}"


@pytest.mark.parametrize(
    "text",
    [
        "ls_agent_Abc123def456Q",
        "ls_feed_Abc123def456Q",
        "ghp_0123456789abcdefghijABCDEFGHIJ",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_keys_are_known_by_their_shape(text: str):
    kept = Redactor().text(f"1 {text} 2")
    assert MARK in kept
    assert "abc\n" not in kept
    assert kept[0] == "1"
    assert kept[-1] == "2"
    assert Redactor().text(kept) == kept


def test_a_secret_across_blocks_is_found_and_any_bytes_are_kept(tmp_path: Path):
    path = tmp_path / "big.txt"
    line = b"0.123\t\xff\xfe\x80 200\n"
    body = line * (BLOCK_BYTES // len(line)) + b"x" * 5 + b"top-secret-value" + b"\n" + line
    path.write_bytes(body)
    assert Redactor(["top-secret-value"]).file(path)
    assert path.read_bytes() == body.replace(b"top-secret-value", MARK.encode())


def test_command_lines_keep_their_shape():
    redactor = Redactor()
    argv = ["ab", "-c", "8", "-A", "joe:hush", "-H", "Cookie: a=b", "http://h/?key=1&token=x"]
    assert redactor.line(argv) == [
        *("ab", "-c", "8", "-A", f"joe:{MARK}", "-H", f"Cookie: {MARK}"),
        f"http://h/?key=1&token={MARK}",
    ]
    assert redactor.line(["bombardier", "-a", "http://h:80/"]) == [
        "bombardier",
        "-a",
        "http://h:80/",
    ]


def test_names_of_secrets():
    for name in ("Authorization", "X-Api-Key", "cookie", "Set-Cookie", "DB_PASSWORD", "sessionid"):
        assert is_sensitive(name), name
    for name in ("Accept", "workers", "X-Request-Id", "pass", "side", "author", "keepalive"):
        assert not is_sensitive(name), name
