"""scripts/verify-result-set, as anyone runs it: the standard library and a file."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.analysis.query.compare_query import CompareQuery
from backend.runs.registry.identity import canonical_json
from backend.sharing.freezing import Description, freeze
from backend.testing.rows import CellSpec, make_run, make_workspace

SCRIPT = Path(__file__).parents[3] / "scripts" / "verify-result-set"
CONTENT = {"id": "a", "title": "Grüße ✓", "runs": [], "figures": {"x": [1, 2.5, 1e-7, None]}}
CANONICAL = canonical_json(CONTENT)


def verify(raw, *options):
    # -S and -I: nothing installed may help.
    return subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), "-", *options],
        input=raw,
        capture_output=True,
        check=False,
        timeout=60,
    )


def sha256(raw):
    return hashlib.sha256(raw).hexdigest()


@pytest.mark.django_db
def test_what_was_frozen_verifies(tmp_path):
    workspace = make_workspace("lab")
    make_run(workspace, CellSpec("gthread"), CellSpec("sync"))
    frozen = freeze(
        CompareQuery.parse(""),
        workspace=workspace,
        author=None,
        description=Description(title="<b>Überblick"),
    )
    path = tmp_path / "result.json"
    path.write_bytes(bytes(frozen.snapshot))
    command = [str(SCRIPT), str(path), "--sha256", frozen.sha256]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert f"SHA-256    {frozen.sha256}" in done.stdout
    assert str(frozen.pk) in done.stdout


def test_the_hash_is_that_of_the_bytes_and_may_be_left_out():
    assert verify(CANONICAL).returncode == 0
    assert sha256(CANONICAL).encode() in verify(CANONICAL).stdout
    assert verify(CANONICAL, "--sha256", f"sha256:{sha256(CANONICAL).upper()}").returncode == 0


def test_one_changed_figure_differs():
    changed = CANONICAL.replace(b"2.5", b"2.6")
    done = verify(changed, "--sha256", sha256(CANONICAL))
    assert done.returncode == 1
    assert b"DIFFERS\n" in done.stdout


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (CANONICAL + b"\n", "white space around it"),
        (b"\xef\xbb\xbf" + CANONICAL, "at byte 0"),
        (json.dumps(CONTENT, indent=1).encode(), "at byte 1"),
        (CANONICAL.replace(b"2.5", b"2.50"), "has '0,1e-07"),
        (CANONICAL.replace("ü".encode(), b"\\u00fc"), "canonical JSON has"),
        (b'{"runs":[],"id":"a"}', "has 'runs"),
    ],
)
def test_other_bytes_are_not_canonical_and_it_says_where(raw, what):
    done = verify(raw)
    assert done.returncode == 1
    assert what in done.stdout.decode()


def test_a_changed_layout_is_told_from_changed_content():
    done = verify(json.dumps(CONTENT, indent=2).encode(), "--sha256", sha256(CANONICAL))
    assert done.returncode == 1
    assert b"only the layout was changed" in done.stdout


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "byte 0 is no UTF-8"),
        (b"[1]", "expected a JSON object"),
        (b'{"a":NaN}', "NaN is no number"),
        (b'{"a":1e999}', "no JSON"),
        (b'{"a":"\\ud800"}', "no JSON"),
        (b'{"a":1,"b":{"c":1,"c":2}}', "'c' stands twice"),
        (b'{"a":' * 100_000, "no JSON"),
    ],
)
def test_what_is_no_result_set_cannot_be_read(raw, reason):
    done = verify(raw)
    assert (done.returncode, done.stdout) == (2, b"")
    assert reason in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_missing_file_and_a_wrong_hash_are_usage(tmp_path):
    missing = subprocess.run(
        [str(SCRIPT), str(tmp_path / "no.json")], capture_output=True, check=False
    )
    assert missing.returncode == 2
    assert b"No such file" in missing.stderr
    done = verify(CANONICAL, "--sha256", "abc")
    assert done.returncode == 2
    assert b"expected 64 hexadecimal digits" in done.stderr


def test_a_hostile_title_cannot_write_to_the_terminal():
    assert b"\x1b" not in verify(canonical_json({"title": "\x1b[2J\x9b31m", "runs": []})).stdout


texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=15,
)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(st.dictionaries(texts, values))
def test_whatever_the_service_freezes_is_canonical_to_the_script(content):
    assert verify(canonical_json(content)).returncode == 0
