"""What the header Server names, and where it names nothing."""

import pytest

from backend.formats.server_header import read_product


@pytest.mark.parametrize(
    ("header", "product"),
    [
        ("nginx/1.22.1", ("nginx", "1.22.1")),
        ("Apache/2.4.57 (Debian)", ("Apache", "2.4.57")),
        ("Werkzeug/3.0.1 Python/3.11.2", ("Werkzeug", "3.0.1")),
        ("Microsoft-IIS/10.0", ("Microsoft-IIS", "10.0")),
        ("gunicorn", ("gunicorn", None)),
        ("Jetty(9.4.z-SNAPSHOT)", ("Jetty", None)),
        (" nginx ", ("nginx", None)),
    ],
)
def test_the_first_product_is_name_and_version(header, product):
    assert read_product(header) == product


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "  ",
        "lab<br />",
        "Google Frontend",
        "Zope/(2.12, python 2.6)",
        "1.2.3",
        "a\nb",
        "(((",
    ],
)
def test_what_names_no_product_stays_unknown(header):
    assert read_product(header) is None


def test_a_long_header_takes_no_time():
    assert read_product("a." * 50_000 + "\n") is not None
    assert read_product("a(" * 50_000) is None
