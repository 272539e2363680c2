"""scripts/pin-images writes the digests that registries name, and nothing where one does not.

The registry is a made one on this machine.
"""

import hashlib
import json
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings

pytestmark = pytest.mark.processes
SCRIPT = settings.BASE_DIR / "scripts" / "pin-images"
OLD = f"sha256:{'0' * 64}"
COMPOSE = f"""services:
  proxy:
    image: caddy:2.11.7@{OLD}
  cache:
    image: valkey/valkey:9.1.1
  web:
    build: .
    image: loadsheet
    # image: of-a-comment:1
"""
DOCKERFILE = f"""FROM node:22-slim@{OLD} AS frontend
RUN echo FROM here:1
FROM node:22-slim AS again
COPY --from=frontend /a /b
"""
# The image of the proxy is built in a folder of its own.
PROXY = f"FROM caddy:2.11.7@{OLD}\n"
NAMES = {"library/caddy": "2.11.7", "valkey/valkey": "9.1.1", "library/node": "22-slim"}


def manifest(name):
    return json.dumps({"mediaType": "application/vnd.oci.image.index.v1+json", "of": name}).encode()


def digest(name):
    return f"sha256:{hashlib.sha256(manifest(name)).hexdigest()}"


class Registry(BaseHTTPRequestHandler):
    """Wants a token for each repository, as Docker Hub does. What it does wrong is in `wrong`."""

    wrong = ""
    asked = []

    def do_GET(self):
        url = urlsplit(self.path)
        self.asked.append(self.path)
        if url.path == "/token":
            return self._token(parse_qs(url.query))
        name, tag = re.fullmatch(r"/v2/(.+)/manifests/([^/]+)", url.path).groups()
        if self.wrong == "silent":
            return self.connection.close()
        if self.headers.get("Authorization") != f"Bearer of-{name}":
            return self._challenge(name)
        if NAMES.get(name) != tag or self.wrong == "no image":
            return self._send(404, b"{}")
        headers = {"Docker-Content-Digest": digest(name)}
        headers |= {
            "no header": {"Docker-Content-Digest": None},
            "strange digest": {"Docker-Content-Digest": "sha256:abc\x1b[31m"},
            "another digest": {"Docker-Content-Digest": OLD},
        }.get(self.wrong, {})
        assert "image.index" in self.headers["Accept"]
        body = b"x" * (5 << 20) if self.wrong == "endless" else manifest(name)
        return self._send(200, body, headers)

    def _challenge(self, name):
        realm = f"http://{self.headers['Host']}/token"
        scope = f'service="made",scope="repository:{name}:pull"'
        challenge = {
            "basic": 'Basic realm="x"',
            "file realm": f'Bearer realm="file:///etc/passwd",{scope}',
            "no challenge": "",
        }.get(self.wrong, f'Bearer realm="{realm}",{scope}')
        self._send(401, b"{}", {"WWW-Authenticate": challenge})

    def _token(self, query):
        assert query["service"] == ["made"]
        name = query["scope"][0].split(":")[1]
        answers = {
            "token refused": (429, b"{}"),
            "no token": (200, b'{"token": null}'),
            "token of two lines": (200, b'{"token": "a\\r\\nX: b"}'),
            "token is a list": (200, b"[]"),
            "access_token": (200, json.dumps({"access_token": f"of-{name}"}).encode()),
        }
        usual = (200, json.dumps({"token": f"of-{name}"}).encode())
        self._send(*answers.get(self.wrong, usual))

    def _send(self, status, body, headers=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(Registry, "wrong", "")
    monkeypatch.setattr(Registry, "asked", [])
    server = HTTPServer(("127.0.0.1", 0), Registry)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docker-compose.yml").write_text(COMPOSE)
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    (tmp_path / "proxy").mkdir()
    (tmp_path / "proxy" / "Dockerfile").write_text(PROXY)
    return tmp_path


def run(folder, registry, *words):
    return subprocess.run(
        [sys.executable, str(SCRIPT), "--folder", str(folder), "--registry", registry, *words],
        env={"NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )


def texts(folder):
    return (folder / "docker-compose.yml").read_text(), (folder / "Dockerfile").read_text()


def test_each_tag_gets_its_digest_and_nothing_else_changes(folder, registry):
    done = run(folder, registry)
    compose, dockerfile = texts(folder)

    assert (done.returncode, done.stderr) == (0, "")
    caddy, valkey, node = (digest(name) for name in NAMES)
    expected = COMPOSE.replace(OLD, caddy)
    assert compose == expected.replace("valkey:9.1.1", f"valkey:9.1.1@{valkey}")
    bare = DOCKERFILE.replace(f"@{OLD}", "")
    assert dockerfile == bare.replace("22-slim", f"22-slim@{node}")
    assert (folder / "proxy" / "Dockerfile").read_text() == PROXY.replace(OLD, caddy)
    names = ["Dockerfile", "docker-compose.yml", "proxy"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert [path.name for path in (folder / "proxy").iterdir()] == ["Dockerfile"]
    # Twice in a file, and asked once: without a token, and with one.
    assert Registry.asked.count("/v2/library/node/manifests/22-slim") == 2


def test_check_names_stale_and_missing_digests_and_changes_nothing(folder, registry):
    done = run(folder, registry, "--check")

    assert done.returncode == 1
    assert f"docker-compose.yml:3: caddy:2.11.7 has {OLD}; the tag is" in done.stdout
    assert "docker-compose.yml:5: valkey/valkey:9.1.1 has no digest; the tag is" in done.stdout
    assert "Dockerfile:1: node:22-slim has" in done.stdout
    assert "Dockerfile:3: node:22-slim has no digest" in done.stdout
    assert texts(folder) == (COMPOSE, DOCKERFILE)
    run(folder, registry)
    assert run(folder, registry, "--check").returncode == 0


@pytest.mark.parametrize("way", ["no header", "access_token"])
def test_other_registries_that_keep_to_the_standard_are_understood(folder, registry, way):
    Registry.wrong = way
    assert run(folder, registry).returncode == 0
    assert digest("library/caddy") in texts(folder)[0]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("silent", "did not answer"),
        ("no image", "answered 404"),
        ("strange digest", "named the digest 'sha256:abc"),
        ("another digest", f"named the digest {OLD}, but its manifest has"),
        ("endless", "more than 4194304 bytes"),
        ("basic", "asks for 'Basic"),
        ("no challenge", "asks for ''"),
        ("file realm", "expected Bearer with https://"),
        ("token refused", "/token answered 429"),
        ("no token", "gave no token"),
        ("token of two lines", "gave no token"),
        ("token is a list", "gave no token"),
    ],
)
def test_what_a_registry_does_wrong_is_told_and_nothing_written(folder, registry, wrong, told):
    Registry.wrong = wrong
    done = run(folder, registry)

    assert (done.returncode, done.stderr) == (3, "")
    assert "scripts/pin-images: nobody knows: " in done.stdout
    assert told in done.stdout
    assert "\x1b" not in done.stdout
    assert texts(folder) == (COMPOSE, DOCKERFILE)


def test_a_registry_that_is_away_is_told(folder):
    assert run(folder, "http://127.0.0.1:1", "--check").returncode == 3


@pytest.mark.parametrize("file", ["docker-compose.yml", "Dockerfile"])
def test_every_image_of_ours_has_an_exact_version_and_a_digest(file):
    text = (settings.BASE_DIR / file).read_text()
    images = re.findall(r"^(?:\s*image: |FROM )(\S+)", text, re.MULTILINE)

    assert images
    for image in set(images) - {"loadsheet", "loadsheet-proxy"}:
        assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}", image), image
