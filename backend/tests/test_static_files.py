"""The clients of a process look up the files of the pages once."""

from whitenoise.middleware import WhiteNoiseMiddleware


def test_a_second_middleware_has_the_files_of_the_first_and_looks_up_none(monkeypatch):
    first = WhiteNoiseMiddleware(lambda request: None)
    monkeypatch.setattr("whitenoise.middleware.finders.get_finders", lambda: 1 / 0)
    second = WhiteNoiseMiddleware(lambda request: None)
    assert first.files
    assert second.files == first.files
