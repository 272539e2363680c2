"""What a comparison reads of JSON is kept where it is short."""

from backend.analysis.loading import rows


def test_long_texts_are_not_kept():
    rows._read_short.cache_clear()
    short, long = ('{"a": "%s"}' % ("x" * length) for length in (100, rows.MOST_KEPT_LENGTH))
    assert [rows._read_object(text)["a"].strip("x") for text in (short, long)] == ["", ""]
    assert rows._read_short.cache_info().currsize == 1
