"""The time series of a trial, packed and read again: by one reader, few slices at a time."""

import zlib

import pytest

from backend.formats import read_trial
from backend.formats.model import TimeSlice
from backend.formats.read_trial import pack_slices, slices_in

COUNTED = tuple(
    TimeSlice(start_s=at, length_s=1.0, completed=at % 7, failed=None, percentiles={"99.9": 1.5})
    for at in range(10)
)
WITH_HISTOGRAM = (TimeSlice(start_s=0, length_s=0.5, reported_rps=3.25, histogram=b"\0\xff"),)


@pytest.mark.parametrize("slices", [COUNTED, WITH_HISTOGRAM])
@pytest.mark.parametrize("as_stored", [bytes, memoryview])
def test_slices_come_back_as_they_were(slices, as_stored):
    assert tuple(slices_in(as_stored(pack_slices(slices)))) == slices


def test_no_time_series_has_no_slices():
    assert not slices_in(pack_slices(()))


def test_slices_are_decoded_few_at_a_time(monkeypatch):
    """One call of the decoder keeps the other threads of a process waiting until it returns."""
    lengths = []

    class Counting:
        def decode(self, text):
            lengths.append(text.count(b"start_s"))
            return decoder.decode(text)

    decoder = read_trial._SLICES
    monkeypatch.setattr(read_trial, "_SLICES", Counting())
    monkeypatch.setattr(read_trial, "SLICES_AT_ONCE", 4)
    assert tuple(slices_in(pack_slices(COUNTED))) == COUNTED
    assert lengths == [4, 4, 2]


def test_a_longer_time_series_is_none(monkeypatch):
    """As where it is packed, also if it was packed before there was a limit."""
    packed = pack_slices(COUNTED)
    size_bytes = len(zlib.decompress(packed))
    monkeypatch.setattr(read_trial, "MOST_TIMELINE_BYTES", size_bytes)
    assert len(slices_in(packed)) == len(COUNTED)
    monkeypatch.setattr(read_trial, "MOST_TIMELINE_BYTES", size_bytes - 1)
    assert not slices_in(packed)
