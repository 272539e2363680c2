"""The pages that every application of the shelf answers, for Python 2.6 to 3.

/           13 bytes of text
/json       a JSON object, made for each request
/template   a page with a table, filled in for each request
/bytes/N    N bytes of text, at most 1,000,000
"""

import json
import re

TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
HELLO = b"Hello, world!"
LARGEST = 1000000
# ASCII digits only, and no more than the largest number has: int() refuses others, such as "\xb2".
SIZED = re.compile(r"/bytes/([0-9]{1,7})\Z")
ROWS = ["row %d" % number for number in range(1, 13)]
PAGE = "<!DOCTYPE html><title>%s</title><table>%s</table>"
ROW = "<tr><td>%d</td><td>%s</td></tr>"


def find_page(path):
    """Status, content type and body of a path."""
    path = path.partition("?")[0]
    if path == "/":
        return 200, TEXT, HELLO
    if path == "/json":
        return 200, JSON, make_json()
    if path == "/template":
        return 200, HTML, make_table().encode("utf-8")
    size = read_size(path)
    if size is not None:
        return 200, TEXT, make_bytes(size)
    return 404, TEXT, b"Not found"


def make_json():
    return json.dumps({"message": HELLO.decode("ascii")}).encode("utf-8")


def make_table():
    rows = "".join([ROW % (number, text) for number, text in enumerate(ROWS)])
    return PAGE % ("Rows", rows)


def make_bytes(size):
    return b"x" * size


def read_size(path):
    """The N of /bytes/N; None for another path or a wrong number."""
    match = SIZED.match(path)
    size = int(match.group(1)) if match else None
    return size if size is not None and size <= LARGEST else None
