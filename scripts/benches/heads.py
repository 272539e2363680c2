"""scripts/bench heads [--count N]: HEADs of members beside GETs of others, through nginx and Caddy.

Starts a site of its own on loopback, the shipped nginx before it, and Caddy where it is installed.
Uploads a text that is itself an HTTP answer, asks for it by HEAD and for other things by GET over
the same connections, and says how many bodies were somebody else's. The exit status is 1 if any.
"""

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from backend.config.recovery.embedded import free_port
from backend.testing.mixed_heads import upload_answer, wrong_bodies
from backend.testing.nginx import Nginx, has_nginx
from backend.testing.promises.ground import own_ground
from backend.testing.raw_http import ask, request
from backend.testing.waiting import wait_until

READY_S = 60.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench heads", description=__doc__)
    parser.add_argument("--count", type=int, default=5_000)
    count = parser.parse_args().count
    failed = False
    with tempfile.TemporaryDirectory() as folder, own_ground(_say) as ground:
        web = ground.site.port
        upload = upload_answer(web, ground.token)
        heads = (f"/api/v1/uploads/{upload}", f"/uploads/{upload}", "/docs/checks", "/")
        credentials = f"Authorization: Bearer {ground.token}"
        for name, port in _proxies(Path(folder), web):
            wrong = wrong_bodies(port, heads, credentials, count=count)
            print(f"{name}: {len(wrong)} of {count} bodies were somebody else's")
            print(*wrong[:5], sep="\n")
            failed |= bool(wrong)
    return 1 if failed else 0


def _proxies(folder: Path, web: int) -> Iterator[tuple[str, int]]:
    yield "no proxy", web
    if has_nginx():
        # Its limits of requests are for people: this bench asks as fast as it can.
        nginx = Nginx(folder / "nginx", [web], REQUESTS_PER_S="100000")
        nginx.start()
        yield "nginx", nginx.port
        nginx.stop()
    else:
        print("nginx: not installed")
    if shutil.which("caddy"):
        with _caddy(web) as port:
            yield "Caddy", port
    else:
        print("Caddy: not installed")


@contextlib.contextmanager
def _caddy(web: int) -> Iterator[int]:
    port = free_port()
    # Without a host: Caddy speaks TLS for those that it is given.
    places = ("--from", f":{port}", "--to", f"127.0.0.1:{web}")
    caddy = subprocess.Popen(["caddy", "reverse-proxy", *places], stderr=subprocess.DEVNULL)
    try:
        if not wait_until(lambda: _answers(port), READY_S):
            raise TimeoutError("Caddy did not answer")
        yield port
    finally:
        caddy.terminate()
        caddy.wait(READY_S)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        return ask(port, request("GET", "/livez")) is not None
    return False


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
