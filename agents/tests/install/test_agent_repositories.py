"""Servers from a commit of a git repository: fetched once, compared, and told when out of reach."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from agent_fakes import run_agent

from loadsheet_agent.errors import BrokenInstallError, NotInstalledError, PlanError
from loadsheet_agent.exits import Exit
from loadsheet_agent.install import installer, repositories
from loadsheet_agent.install.installer import Installer
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.run.installation import find_available, install_plan
from loadsheet_agent.tools import FoundTool
from loadsheet_agent.tools.wrk import Wrk

NAME = ("-c", "user.name=a", "-c", "user.email=a@example.org")
# Nothing listens there.
URL = "https://127.0.0.1:1/server.git"
OTHER = "0123456789" * 4


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ("git", *NAME, *arguments), cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@dataclass(frozen=True)
class Upstream:
    """A repository with two commits; `commit` is the first."""

    folder: Path
    commit: str

    @property
    def url(self) -> str:
        return f"file://{self.folder}"


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    folder = tmp_path / "server.git"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for text in ("first\n", "second\n"):
        (folder / "serve.py").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", text)
    return Upstream(folder, git(folder, "rev-parse", "HEAD~"))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "servers of a%20plan"


def plan_of(commit: str, url: str = URL, more: str = "") -> Plan:
    text = (
        '[[servers]]\nname = "a"\nurl = "http://127.0.0.1:{port}"\nstart = ["x"]\n'
        'install = [["cp", "{install}/server/serve.py", "{install}/copy"]]\n'
        f'[[servers.source]]\nurl = "{url}"\ncommit = "{commit}"\n'
        f'{more}[[workloads]]\nname = "hello"\n'
    )
    return parse_plan(text, name="plan", directory=Path.cwd(), environ={})


def install(cache: Path, commit: str, url: str = URL) -> Path:
    """`url` may be one that no plan may have."""
    (server,) = plan_of(commit).servers
    source = replace(server.source[0], url=url)
    words = Installer(cache, Path.cwd()).install(replace(server, source=(source,)), "a")
    return Path(words["install"])


def keep_copy(cache: Path, upstream: Upstream) -> Path:
    """What the message tells a person to do."""
    place = cache / "downloads" / f"{upstream.commit}.git"
    place.parent.mkdir(parents=True, exist_ok=True)
    git(cache, "clone", "--quiet", "--bare", str(upstream.folder), str(place))
    return place


def test_the_files_of_a_commit_are_there_before_the_commands_that_install(
    upstream: Upstream, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(repositories, "PROTOCOL", "file")
    folder = install(cache, upstream.commit, upstream.url)
    assert (folder / "copy").read_text() == "first\n"
    assert not (folder / "server" / ".git").exists()


def test_a_commit_is_fetched_once_also_for_another_server(
    upstream: Upstream, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(repositories, "PROTOCOL", "file")
    install(cache, upstream.commit, upstream.url)
    again = Installer(cache, Path.cwd()).install(plan_of(upstream.commit).servers[0], "b")
    assert (Path(again["install"]) / "copy").read_text() == "first\n"


def test_only_https_addresses_are_fetched(upstream: Upstream, cache: Path):
    with pytest.raises(NotInstalledError, match="transport 'file' not allowed"):
        install(cache, upstream.commit, upstream.url)


def test_without_a_network_a_copy_of_the_repository_is_enough(upstream: Upstream, cache: Path):
    with pytest.raises(NotInstalledError) as caught:
        install(cache, upstream.commit)
    place = cache / "downloads" / f"{upstream.commit}.git"
    assert type(caught.value) is NotInstalledError
    assert str(caught.value).startswith(f"{URL} could not be fetched (unable to access ")
    assert str(caught.value).endswith(
        f"; without a network, put a bare copy of the repository at {place}"
    )
    keep_copy(cache, upstream)
    assert (install(cache, upstream.commit) / "copy").read_text() == "first\n"


def test_a_server_whose_repository_is_out_of_reach_is_skipped_and_the_others_stay():
    other = '[[servers]]\nname = "b"\nurl = "http://127.0.0.1:{port}"\nstart = ["x"]\n'
    plan = plan_of(OTHER, more=other)
    installation = install_plan(find_available(plan), FoundTool(Wrk(), "wrk", "4"), lambda _: None)
    assert [server.name for server in installation.plan.servers] == ["b"]
    (sentence,) = installation.skipped
    assert sentence.startswith(f"server 'a' is skipped, because {URL} could not be fetched (")


@pytest.mark.processes
def test_a_server_of_the_shelf_whose_repository_is_out_of_reach_is_skipped(tmp_path: Path):
    folder = tmp_path / "shelf" / "old"
    (folder / "versions").mkdir(parents=True)
    (folder / "server.toml").write_text(
        'title = "Old"\nstyle = "s"\nlanguage = "C"\nlicence = "none"\nserves = ["/"]\n'
        '[server]\nurl = "http://127.0.0.1:{port}"\nstart = ["{install}/server/serve"]\n'
    )
    (folder / "versions" / "current.toml").write_text(
        f'[[server.source]]\nurl = "{URL}"\ncommit = "{OTHER}"\n'
    )
    done = run_agent("servers", "check", "old", "--shelf", folder.parent)
    assert done.returncode == Exit.OK
    assert f"- old@current: {URL} could not be fetched (" in done.stdout
    assert f"at {tmp_path}/cache/downloads/{OTHER}.git\n" in done.stdout


def test_a_repository_without_the_commit_is_a_mistake_of_the_plan(
    upstream: Upstream, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(repositories, "PROTOCOL", "file")
    with pytest.raises(BrokenInstallError, match=f"not our ref {OTHER}"):
        install(cache, OTHER, upstream.url)
    with pytest.raises(BrokenInstallError, match="does not appear to be a git repository"):
        install(cache, OTHER, f"{upstream.url}-gone")


def test_a_copy_whose_files_were_changed_is_refused(upstream: Upstream, cache: Path):
    place = keep_copy(cache, upstream)
    blob = git(place, "rev-parse", f"{upstream.commit}:serve.py")
    changed = subprocess.run(
        ("git", "hash-object", "-w", "--stdin"),
        cwd=place,
        input="changed\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    objects = place / "objects"
    for pack in (objects / "pack").glob("*.pack"):
        moved = pack.rename(place / pack.name)
        with moved.open("rb") as packed:
            subprocess.run(("git", "unpack-objects", "-q"), cwd=place, stdin=packed, check=True)
    original = objects / blob[:2] / blob[2:]
    original.unlink()
    original.write_bytes((objects / changed[:2] / changed[2:]).read_bytes())
    with pytest.raises(NotInstalledError, match=f"^{place}, the copy of {URL}, cannot be used"):
        install(cache, upstream.commit)


def test_a_repository_with_submodules_is_refused(upstream: Upstream, cache: Path):
    entry = f"160000,{OTHER},part"
    git(upstream.folder, "update-index", "--add", "--cacheinfo", entry)
    git(upstream.folder, "commit", "--quiet", "-m", "a part")
    whole = replace(upstream, commit=git(upstream.folder, "rev-parse", "HEAD"))
    keep_copy(cache, whole)
    with pytest.raises(BrokenInstallError, match="it has submodules, which are not fetched"):
        install(cache, whole.commit)


def test_settings_and_hooks_of_the_user_have_no_effect(
    upstream: Upstream, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path / "home"
    hook = home / "hooks" / "post-checkout"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    (home / "attributes").write_text("*.py filter=change\n")
    (home / ".gitconfig").write_text(
        f"[core]\nhooksPath = {home}/hooks\nattributesFile = {home}/attributes\n"
        '[filter "change"]\nsmudge = sed s/first/changed/\n'
        f'[url "file://{upstream.folder}"]\ninsteadOf = {URL}\n'
    )
    monkeypatch.setattr(repositories, "PROTOCOL", "https:file")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    with pytest.raises(NotInstalledError, match="could not be fetched"):
        install(cache, upstream.commit)
    keep_copy(cache, upstream)
    assert (install(cache, upstream.commit) / "copy").read_text() == "first\n"
    assert not (tmp_path / "hook-ran").exists()


def test_a_repository_needs_git(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installer, "find_program", lambda name: None)
    with pytest.raises(NotInstalledError, match=r"git is not installed \(apt install git\)"):
        find_available(plan_of(OTHER))


@pytest.mark.parametrize(
    ("url", "hashes", "message"),
    [
        (URL, f'commit = "{OTHER[:7]}"', "give its whole id, 40 hexadecimal digits"),
        (URL, f'commit = "{OTHER[:39]}G"', "give its whole id, 40 hexadecimal digits"),
        ("http://example.org/a.git", f'commit = "{OTHER}"', "write its https address"),
        ("https://me:word@example.org/a", f'commit = "{OTHER}"', "write its https address"),
        ("https://example.org/", f'commit = "{OTHER}"', "write its https address"),
        ("https://example.org/.git", f'commit = "{OTHER}"', "write its https address"),
        (URL, "", "give the sha256 of a file, or the commit of a git repository"),
        (
            URL,
            f'commit = "{OTHER}"\nsha256 = "{OTHER}{OTHER[:24]}"',
            "both sha256 and commit are given",
        ),
    ],
)
def test_a_repository_needs_its_address_and_a_whole_commit(url: str, hashes: str, message: str):
    text = (
        '[[servers]]\nname = "a"\nurl = "http://127.0.0.1:{port}"\nstart = ["x"]\n'
        f'[[servers.source]]\nurl = "{url}"\n{hashes}\n[[workloads]]\nname = "hello"\n'
    )
    with pytest.raises(PlanError, match=message):
        parse_plan(text, name="plan", directory=Path.cwd(), environ=dict(os.environ))
