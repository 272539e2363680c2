"""Sources of servers: held against their SHA-256, kept for later, and told when out of reach."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from loadsheet_agent.errors import BrokenInstallError, NotInstalledError, PlanError
from loadsheet_agent.install import downloads
from loadsheet_agent.install.installer import Installer
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.run.installation import find_available, install_plan
from loadsheet_agent.tools import FoundTool
from loadsheet_agent.tools.wrk import Wrk

CONTENT = b"the source of a server\n" * 100
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Files:
    """A site with one file, which counts how often it was asked for."""

    def __init__(self) -> None:
        self.asked = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked += 1
                is_there = self.path == "/server-1.0.tar"
                self.send_response(200 if is_there else 404)
                self.end_headers()
                self.wfile.write(CONTENT if is_there else b"nothing here")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def site() -> Iterator[Files]:
    files = Files()
    yield files
    files.close()


def plan_of(url: str, digest: str = DIGEST, *, more: str = "") -> Plan:
    text = (
        '[[servers]]\nname = "a"\nurl = "http://127.0.0.1:{port}"\nstart = ["x"]\n'
        'install = [["sh", "-c", "cp {install}/server-1.0.tar {install}/copy"]]\n'
        f'[[servers.source]]\nurl = "{url}"\nsha256 = "{digest}"\n'
        f'{more}[[workloads]]\nname = "hello"\n'
    )
    return parse_plan(text, name="plan", directory=Path.cwd(), environ={})


def install(plan: Plan, cache: Path) -> Path:
    words = Installer(cache, Path.cwd()).install(plan.servers[0], "a")
    return Path(words["install"])


def test_a_source_is_there_before_the_commands_that_install(site: Files, tmp_path: Path):
    folder = install(plan_of(f"{site.url}/server-1.0.tar"), tmp_path)
    assert (folder / "copy").read_bytes() == CONTENT


def test_a_source_is_downloaded_once_also_for_another_server(site: Files, tmp_path: Path):
    plan = plan_of(f"{site.url}/server-1.0.tar")
    install(plan, tmp_path)
    Installer(tmp_path, Path.cwd()).install(plan.servers[0], "b")
    assert site.asked == 1


def test_without_a_network_a_source_that_was_kept_is_enough(site: Files, tmp_path: Path):
    plan = plan_of(f"{site.url}/server-1.0.tar")
    site.close()
    with pytest.raises(NotInstalledError, match="could not be downloaded") as caught:
        install(plan, tmp_path)
    place = tmp_path / "downloads" / DIGEST
    assert str(caught.value).endswith(f"; without a network, put the file at {place}")
    place.write_bytes(CONTENT)
    assert (install(plan, tmp_path) / "copy").read_bytes() == CONTENT


def test_a_source_of_other_bytes_is_refused_and_not_kept(site: Files, tmp_path: Path):
    plan = plan_of(f"{site.url}/server-1.0.tar", "0" * 64)
    with pytest.raises(BrokenInstallError) as caught:
        install(plan, tmp_path)
    assert str(caught.value) == (
        f"{site.url}/server-1.0.tar has the SHA-256 {DIGEST}; expected {'0' * 64}"
    )
    assert list((tmp_path / "downloads").iterdir()) == []


def test_a_source_that_the_site_does_not_have_is_a_mistake_of_the_plan(site: Files, tmp_path: Path):
    with pytest.raises(BrokenInstallError, match="404"):
        install(plan_of(f"{site.url}/gone.tar"), tmp_path)


@pytest.mark.parametrize(
    ("printed", "kind"),
    [
        ("Retrying after connection broken by 'NewConnectionError'", NotInstalledError),
        ("error: no hash of the lock fits", BrokenInstallError),
    ],
)
def test_a_registry_out_of_reach_is_told_from_a_broken_installation(
    site: Files, tmp_path: Path, printed: str, kind: type[NotInstalledError]
):
    plan = plan_of(f"{site.url}/server-1.0.tar")
    command = ("sh", "-c", f'echo "{printed}"; exit 1')
    broken = replace(plan, servers=(replace(plan.servers[0], install=(command,)),))
    with pytest.raises(NotInstalledError) as caught:
        install(broken, tmp_path)
    assert type(caught.value) is kind


def test_a_source_that_is_too_large_is_refused(
    site: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(downloads, "LIMIT_BYTES", 100)
    with pytest.raises(NotInstalledError, match="it has more than 100 bytes"):
        install(plan_of(f"{site.url}/server-1.0.tar"), tmp_path)


def test_a_server_whose_source_is_gone_is_skipped_and_the_others_stay(
    site: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOADSHEET_CACHE", str(tmp_path))
    plan = plan_of(
        f"{site.url}/gone.tar",
        more='[[servers]]\nname = "b"\nurl = "http://127.0.0.1:{port}"\nstart = ["x"]\n',
    )
    tool = FoundTool(Wrk(), "wrk", "4")
    installation = install_plan(find_available(plan), tool, lambda _: None)
    assert [server.name for server in installation.plan.servers] == ["b"]
    (sentence,) = installation.skipped
    assert sentence.startswith(
        f"server 'a' is skipped, because {site.url}/gone.tar could not be downloaded ("
    )
    assert "404" in sentence


@pytest.mark.parametrize(
    ("url", "digest"),
    [("https://example.org/a.tar", "abc"), ("https://example.org/", DIGEST)],
)
def test_a_source_needs_a_file_and_its_whole_digest(url: str, digest: str):
    with pytest.raises(PlanError, match="give the address of a file and 64 hexadecimal digits"):
        plan_of(url, digest)
