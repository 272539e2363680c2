"""A real S3 server over a folder, for tests and benches: versitygw, where it is installed."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import boto3

from backend.config.recovery.embedded import EmbeddedFailed, ends_with_parent, free_port
from backend.testing.waiting import is_answering, wait_until

INSTALL = "go install github.com/versity/versitygw/cmd/versitygw@v1.8.0"
MISSING = f"versitygw is not installed; install it with: {INSTALL}"
BUCKET = "artefacts"
KEY_ID, SECRET = "loadsheet", "only for tests and benches"
START_TIMEOUT_S = 30


def find_program() -> str | None:
    """On the PATH, or where Go installs programs."""
    folders = [os.environ.get("PATH", ""), os.environ.get("GOBIN", ""), "~/go/bin"]
    searched = os.pathsep.join(os.path.expanduser(folder) for folder in folders if folder)
    return shutil.which("versitygw", path=searched)


def variables_of(url: str) -> dict[str, str]:
    """What makes a site store its artefacts in the bucket of the server at `url`."""
    return {
        "S3_BUCKET": BUCKET,
        "S3_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def make_bucket(url: str) -> None:
    """Make the bucket of the server at `url`."""
    boto3.client(
        "s3",
        endpoint_url=url,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    ).create_bucket(Bucket=BUCKET)


class S3Server:
    """versitygw on a free loopback port, with one empty bucket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "objects"
        self.log = folder / "s3.log"
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def variables(self) -> dict[str, str]:
        return variables_of(self.url)

    def start(self) -> None:
        """Start the server and make the bucket; raises EmbeddedFailed."""
        program = find_program()
        if program is None:
            raise EmbeddedFailed(MISSING)
        self.folder.mkdir(parents=True)
        listen = ["--port", f"127.0.0.1:{self.port}", "--health", "/health", "--quiet"]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [program, *listen, "posix", str(self.folder)],
                env={**os.environ, "ROOT_ACCESS_KEY_ID": KEY_ID, "ROOT_SECRET_ACCESS_KEY": SECRET},
                stdout=out,
                stderr=out,
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  exec follows at once
            )
        is_started = wait_until(
            lambda: is_answering(f"{self.url}/health"), START_TIMEOUT_S, every_s=0.05
        )
        if not is_started:
            raise EmbeddedFailed(
                f"versitygw did not start; the reason is at the end of {self.log}."
            )
        make_bucket(self.url)

    def stored(self) -> tuple[int, int]:
        """How many objects there are, and their bytes."""
        sizes = [
            place.stat().st_size for place in (self.folder / BUCKET).rglob("*") if place.is_file()
        ]
        return len(sizes), sum(sizes)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=30)
