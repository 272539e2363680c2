"""The proxy that Compose ships, before web servers of a test: its own start script and files."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from backend.config.recovery.embedded import ends_with_parent, free_port
from backend.testing.supervised import ROOT
from backend.testing.waiting import wait_until

FOLDER = ROOT / "proxy"
READY_S = 60.0
STREAM_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")


def has_nginx() -> bool:
    """With its module `stream`, which Debian has in a package of its own."""
    nginx = shutil.which("nginx", path=_path())
    if nginx is None:
        return False
    built = subprocess.run([nginx, "-V"], capture_output=True, text=True, check=True).stderr
    return "--with-stream " in built or STREAM_MODULE.exists()


def _path() -> str:
    """Debian's nginx is in a folder that only root has in PATH."""
    return os.pathsep.join([os.environ["PATH"], "/usr/sbin"])


class Nginx:
    """nginx on ports of its own; `urls` are web servers on 127.0.0.1."""

    def __init__(self, folder: Path, ports: Sequence[int], **variables: str) -> None:
        self.folder = folder
        self.port, self.tls_port = free_port(), free_port()
        self.log = folder / "log"
        folder.mkdir()
        self._environment: Mapping[str, str] = {
            "PATH": _path(),
            "PROXY": str(FOLDER),
            "RUN": str(folder),
            "CERTIFICATES": str(folder / "certificates"),
            "HTTP_LISTEN": f"127.0.0.1:{self.port}",
            "HTTPS_LISTEN": f"127.0.0.1:{self.tls_port}",
            "UPSTREAMS": " ".join(f"127.0.0.1:{port}" for port in ports),
            "ALLOWED_HOSTS": "127.0.0.1,localhost",
            "LOOK_EVERY_S": "1",
            # Else the user `nobody`, who may not write into the folder of a test.
            "NGINX_USER": "root" if os.geteuid() == 0 else "",
            **variables,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Raises TimeoutError if it does not listen in time."""
        with self.log.open("wb") as out:
            self._process = subprocess.Popen(
                ["sh", str(FOLDER / "start.sh")],
                env=self._environment,
                stdout=out,
                stderr=out,
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  exec follows at once
            )
        pid, process = self.folder / "nginx.pid", self._process
        wait_until(lambda: pid.exists() or process.poll() is not None, READY_S)
        if not pid.exists():
            raise TimeoutError(f"nginx did not start: {self.log.read_text()}")

    def stop(self) -> None:
        """Wait until it has ended."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(READY_S)
