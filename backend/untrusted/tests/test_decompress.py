import gzip
import io
import os
import time

import pytest
import zstandard

from backend.testing.uploads import gzip_of_zeros
from backend.untrusted.archives import decompress
from backend.untrusted.archives.decompress import DecompressionRefused, unpacked

LIMIT = 512 << 20


def decompressed(data, *, limit_bytes):
    """Read to the end, letting go of what was read."""
    stream, kept = unpacked(lambda: io.BytesIO(data), limit_bytes=limit_bytes), []
    while piece := stream.read(1 << 20):
        kept = [*kept[-1:], piece]
    return b"".join(kept)


def zstd_of_zeros(size_bytes):
    packer = zstandard.ZstdCompressor().compressobj(size=size_bytes)
    pieces = [packer.compress(bytes(1 << 20)) for _ in range(size_bytes >> 20)]
    return b"".join([*pieces, packer.flush()])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_packed_text_comes_back(pack):
    assert decompressed(pack(b"hello " * 1000), limit_bytes=LIMIT) == b"hello " * 1000


def test_plain_bytes_stay_as_they_are():
    assert decompressed(b"Requests/sec: 1", limit_bytes=LIMIT) == b"Requests/sec: 1"


@pytest.mark.long
@pytest.mark.parametrize("bomb", [gzip_of_zeros, zstd_of_zeros])
def test_a_bomb_of_one_gib_stops_at_the_ratio(bomb):
    packed = bomb(1 << 30)
    started = time.process_time()
    refusal = f"of {len(packed):,} bytes unpacks to .* at most 100 times its size. Send it"
    with pytest.raises(DecompressionRefused, match=refusal):
        decompressed(packed, limit_bytes=LIMIT)
    assert time.process_time() - started < 10, "the bomb was unpacked whole"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_members_and_frames_count_together(pack):
    with pytest.raises(DecompressionRefused, match="unpacks to more than"):
        decompressed(pack(bytes(1 << 20)) * 100, limit_bytes=50 << 20)


def test_a_huge_window_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(bytes(1000)) + packer.flush()
    with pytest.raises(DecompressionRefused, match="broken"):
        decompressed(packed, limit_bytes=LIMIT)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_packed_twice_is_refused(pack):
    with pytest.raises(DecompressionRefused, match="compressed twice"):
        decompressed(pack(gzip.compress(b"hello" * 100)), limit_bytes=LIMIT)


def test_a_cut_off_gzip_is_refused():
    with pytest.raises(DecompressionRefused, match="cut off"):
        decompressed(gzip.compress(bytes(range(256)) * 100)[:-20], limit_bytes=LIMIT)


def test_a_corrupt_gzip_is_refused():
    packed = bytearray(gzip.compress(bytes(range(256)) * 100))
    packed[-6] ^= 255
    with pytest.raises(DecompressionRefused, match="broken"):
        decompressed(bytes(packed), limit_bytes=LIMIT)


def test_a_member_that_ends_copies_a_slice_of_what_follows_not_all_of_it(monkeypatch):
    """Copying all of it for each of 8.4 MB of empty members held a thread for 27 s."""
    members, tail_bytes = 9_000, 32 << 20
    given_back = []
    give_back = decompress._Source.give_back

    def count(source, size):
        given_back.append(size)
        give_back(source, size)

    monkeypatch.setattr(decompress._Source, "give_back", count)
    tail = os.urandom(tail_bytes)
    packed = gzip.compress(b"") * members + gzip.compress(tail, 0)
    assert tail.endswith(decompressed(packed, limit_bytes=2 * tail_bytes))
    assert len(given_back) == members + 1
    assert max(given_back) <= decompress.GZIP_SLICE_BYTES
