"""Whether the storage has the bytes that the rows name, and no others."""

import time

from django.conf import settings
from django.db.models import Max

from backend.ingest.models import Artefact
from backend.ingest.removing.collector import unnamed_artefacts
from backend.ingest.reprocessing.integrity_check import ROWS_AT_ONCE, Check
from backend.storage import CHUNK_BYTES, storage
from backend.untrusted.secrets.cleaning import hash_of


def check_rows_have_bytes(*, is_hashing: bool) -> Check:
    """Every artefact that a row names has its bytes; with `is_hashing` they are read."""
    sizes = {bytes.fromhex(entry.name): entry.size_bytes for entry in storage().list()}
    check = Check("different artefacts, with their bytes" + (" and SHA-256" if is_hashing else ""))
    kept = Artefact.objects.filter(upload__raw_removed_at=None)
    rows = kept.order_by("sha256").values_list("sha256").annotate(Max("size_bytes"))
    for sha256, size_bytes in rows.iterator(ROWS_AT_ONCE):
        check.count += 1
        problem = _size_problem(sha256, size_bytes, sizes.get(bytes.fromhex(sha256)))
        if not problem and is_hashing:
            problem = _hash_problem(sha256)
        if problem:
            check.add_problem(problem)
    return check


def count_removed() -> Check:
    """Artefacts whose bytes were removed for their age: they are missing nowhere."""
    removed = Artefact.objects.exclude(upload__raw_removed_at=None)
    return Check("artefacts whose bytes were removed for their age", removed.count())


def _size_problem(sha256: str, size_bytes: int, stored_bytes: int | None) -> str:
    """Empty if the bytes are there, all of them."""
    if stored_bytes is None:
        # Come or gone since the storage was listed: looked at once more.
        named = Artefact.objects.filter(sha256=sha256, upload__raw_removed_at=None)
        is_there = storage().has(sha256) or not named.exists()
        return "" if is_there else f"{sha256} is missing"
    if stored_bytes != size_bytes:
        return f"{sha256} has {stored_bytes:,} bytes, its row says {size_bytes:,}"
    return ""


def _hash_problem(sha256: str) -> str:
    """Empty if the stored bytes have this SHA-256, or were deleted meanwhile."""
    try:
        with storage().open(sha256) as source:
            actual = hash_of(iter(lambda: source.read(CHUNK_BYTES), b""))
    except FileNotFoundError:
        return ""
    return "" if actual == sha256 else f"{sha256} has the SHA-256 {actual}"


def check_bytes_have_rows() -> Check:
    """Bytes younger than the collector takes may be of an upload on its way."""
    check = Check(
        "stored files, with those of uploads on their way", sum(1 for _ in storage().list())
    )
    before_s = time.time() - settings.COLLECT_AFTER_S
    for entry in unnamed_artefacts(before_s, is_forced=True):
        check.add_problem(f"{entry.name} has no row; `manage.py collect` removes it")
    return check
