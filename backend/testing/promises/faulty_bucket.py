"""A bucket that refuses as told: moto's S3 behind a gate."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from backend.testing.s3_server import make_bucket, variables_of

SLOW_DOWN = (
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)


# A line for each request.
logging.getLogger("werkzeug").setLevel(logging.WARNING)


class FaultyBucket:
    """S3 on loopback; refuses `refused_share` of the requests with 503."""

    def __init__(self) -> None:
        self.refused_share = 0.0
        self.asked = 0
        self.refused = 0
        self._chance = random.Random(7)  # noqa: S311
        self._store = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def variables(self) -> dict[str, str]:
        return variables_of(self.url)

    def __enter__(self) -> FaultyBucket:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        make_bucket(self.url)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        self.asked += 1
        if self._chance.random() < self.refused_share:
            self.refused += 1
            start("503 Slow Down", [("Content-Type", "application/xml"), ("Connection", "close")])
            return [SLOW_DOWN]
        answer: Iterable[bytes] = self._store(environ, start)
        return answer
