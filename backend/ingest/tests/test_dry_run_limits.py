"""What a preview may take: the limits of one file, and the time of all files together."""

import gzip
import itertools

import pytest

from backend.ingest import quick_sandbox
from backend.ingest.dry_run import OF_MEMBERS, TOO_LONG, dry_run
from backend.ingest.envelope import Envelope
from backend.ingest.sandbox import Sandbox
from backend.testing.uploads import WRK, make_file


def test_no_file_may_use_more_than_is_left_of_the_time_of_all(monkeypatch):
    limits_used = []

    def answer(self, artefacts, asked, limits, *_):
        limits_used.append(limits)
        return {"changed": False}

    monkeypatch.setattr(Sandbox, "request", answer)
    monkeypatch.setattr("backend.ingest.dry_run.time.monotonic", itertools.count(step=3).__next__)
    files = [make_file(gzip.compress(WRK.encode()), f"{number}.gz") for number in range(3)]
    answers = dry_run(files, Envelope())
    monkeypatch.undo()

    # Asked at 6, 9, 15 and 18 s of 20 s: a search and a reading of each of two files.
    assert [limits.cpu_s for limits in limits_used] == [8, 8, 5, 2]
    unpacked_bytes = OF_MEMBERS.quick.unpacked_bytes
    assert {limits.decompressed_bytes for limits in limits_used} == {unpacked_bytes}
    assert [refusal.sentence for refusal in answers[2].refusals] == [TOO_LONG]


def test_a_parser_that_others_keep_busy_is_no_refusal_of_the_file(monkeypatch):
    """The same preview works later, so nothing about the file is told."""
    monkeypatch.setattr(quick_sandbox, "TURN_S", 0.0)
    with quick_sandbox._turns, pytest.raises(quick_sandbox.ParserBusy):
        dry_run([make_file(WRK)], Envelope())
