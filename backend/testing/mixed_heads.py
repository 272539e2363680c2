"""HEADs of members beside GETs of others, over the same connections of a proxy."""

import itertools
import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from backend.testing.raw_http import ask, connected, read_answer, request
from backend.testing.reports import WRK

# A text that is itself an answer: behind a HEAD, it would be read as the answer to the next GET.
UPLOADED = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nattacker" + WRK.encode()
GETS = ("/livez", "/api/v1/limits", "/static/charts.js")
# Over one connection: nginx ends it after 1,000 requests.
PAIRS = 400
FORM = (
    b'--mark\r\nContent-Disposition: form-data; name="file"; filename="ab.txt"\r\n\r\n'
    + UPLOADED
    + b"\r\n--mark--\r\n"
)


def upload_answer(port: int, token: str) -> str:
    """Upload `UPLOADED`; returns the id of the upload."""
    bearer = f"Authorization: Bearer {token}"
    kind = "Content-Type: multipart/form-data; boundary=mark"
    fields = (bearer, kind, f"Content-Length: {len(FORM)}")
    answer = ask(port, request("POST", "/api/v1/uploads", *fields, body=FORM))
    assert answer is not None
    return str(json.loads(answer.body)["id"])


def wrong_bodies(
    port: int, heads: Sequence[str], credentials: str, *, count: int, threads: int = 4
) -> list[str]:
    """What `count` GETs got that is not theirs, each behind a HEAD of one of the paths."""
    expected = {path: _body(port, path) for path in GETS}

    def visit(seed: int) -> list[str]:
        choose, wrong = random.Random(seed), []  # noqa: S311  no secret
        left = count // threads
        while left:
            with connected(port) as connection:
                stream = connection.makefile("rb")
                for _ in range(min(left, PAIRS)):
                    left -= 1
                    connection.sendall(request("HEAD", choose.choice(heads), credentials))
                    read_answer(stream, "HEAD")
                    path = choose.choice(GETS)
                    connection.sendall(request("GET", path))
                    answer = read_answer(stream)
                    body = b"" if answer is None else answer.body
                    if body != expected[path]:
                        wrong.append(f"{path}: {body[:80]!r}")
        return wrong

    with ThreadPoolExecutor(threads) as pool:
        return list(itertools.chain(*pool.map(visit, range(threads))))


def _body(port: int, path: str) -> bytes:
    answer = ask(port, request("GET", path))
    assert answer is not None
    assert answer.status == 200, (path, answer.status)
    return answer.body
