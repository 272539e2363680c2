"""A bucket that refuses as told: moto's S3 behind a gate."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from backend.testing.s3_server import BUCKET, KEY_ID, SECRET

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
        """What makes a site store its artefacts here."""
        return {
            "S3_BUCKET": BUCKET,
            "S3_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def __enter__(self) -> FaultyBucket:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=KEY_ID,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        ).create_bucket(Bucket=BUCKET)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        self.asked += 1
        if self._chance.random() < self.refused_share:
            self.refused += 1
            start("503 Slow Down", [("Content-Type", "application/xml"), ("Connection", "close")])
            return [SLOW_DOWN]
        answer: Iterable[bytes] = self._store(environ, start)
        return answer
