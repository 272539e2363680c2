"""What a preview may take: the limits of one file, and the time of all files together."""

import gzip
import itertools

from backend.ingest.envelope.envelope import Envelope
from backend.ingest.preview.dry_run import OF_MEMBERS, TOO_LONG, dry_run
from backend.testing.uploads import WRK, make_file
from backend.untrusted.sandbox.fair_slots import Slots
from backend.untrusted.sandbox.quick_sandbox import quick_sandbox
from backend.untrusted.sandbox.sandbox import Sandbox


def test_no_file_may_use_more_than_is_left_of_the_time_of_all(monkeypatch):
    limits_used = []

    def answer(self, artefacts, asked, limits, *_):
        limits_used.append(limits)
        return {"changed": False}

    monkeypatch.setattr(Sandbox, "request", answer)
    monkeypatch.setattr(
        "backend.ingest.preview.dry_run.time.monotonic", itertools.count(step=3).__next__
    )
    files = [make_file(gzip.compress(WRK.encode()), f"{number}.gz") for number in range(3)]
    answers = dry_run(files, Envelope())
    monkeypatch.undo()

    # Asked at 6, 9, 15 and 18 s of 20 s: a search and a reading of each of two files.
    assert [limits.cpu_s for limits in limits_used] == [8, 8, 5, 2]
    unpacked_bytes = OF_MEMBERS.quick.unpacked_bytes
    assert {limits.decompressed_bytes for limits in limits_used} == {unpacked_bytes}
    assert [refusal.sentence for refusal in answers[2].refusals] == [TOO_LONG]


class Clock:
    """Each look at it takes 3 s."""

    def __init__(self):
        self.now_s = 0.0

    def monotonic(self):
        self.now_s += 3.0
        return self.now_s

    def wait(self):
        self.now_s += 100.0
        return 100.0


def test_what_a_preview_waits_for_others_is_not_its_own_time(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(Sandbox, "request", lambda *_: {"changed": False})
    monkeypatch.setattr(Slots, "let_others_go_first", clock.wait)
    monkeypatch.setattr("backend.ingest.preview.dry_run.time.monotonic", clock.monotonic)
    files = [make_file(gzip.compress(WRK.encode()), f"{number}.gz") for number in range(3)]
    answers = dry_run(files, Envelope())
    monkeypatch.undo()

    sentences = [[refusal.sentence for refusal in answer.refusals] for answer in answers]
    assert sentences == [[], [], [TOO_LONG]]


def test_previews_at_the_same_time_have_a_parser_each():
    with quick_sandbox() as first, quick_sandbox() as again:
        assert first.child is not again.child
        children = {first.child, again.child}
    with quick_sandbox() as later:
        assert later.child in children
