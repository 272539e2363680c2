"""The demonstration: the agent measures a few local servers, once for a data folder."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from backend.config.embedded import ends_with_parent
from backend.config.progress import say
from backend.config.site import ROOT, Site
from backend.config.site_folder import StartFailed


def show_demo(site: Site) -> None:
    """Measure the demo servers once, then say how to get in.

    A measurement that fails is no reason to stop what runs: the next start tries it again.
    """
    try:
        run = _demo_run(site)
    except (StartFailed, OSError) as failed:
        say(f"The demo was not measured: {failed} Loadsheet runs; the next start tries again.")
        run = ""
    if run:
        _publish(site, run)
    path = f"/w/demo/compare?run={run}" if run else "/w/demo/compare"
    link = site.manage("sign_in_link", "--next", path).strip()
    say(f"Open this once to sign in and see the comparison:\n\n    {site.url}{link}\n")


def _demo_run(site: Site) -> str:
    marker = site.folder.path / "demo-run"
    if not marker.exists():
        marker.write_text(measure(site))
    return marker.read_text().strip()


def _publish(site: Site, run: str) -> None:
    """Show the demo to visitors too. Without it the front page only lacks a comparison."""
    try:
        site.manage("publish_demo", run)
    except StartFailed as failed:
        say(f"The front page shows no comparison: {failed}")


def measure(site: Site) -> str:
    """Run the agent on its demo plan; returns the id of the upload, raises StartFailed."""
    token = json.loads(site.manage("make_demo"))["token"]
    say("Measuring the demo servers on this machine (about a minute)")
    output = site.folder.scratch / "demo.json"
    with output.open("wb") as out:
        agent = subprocess.Popen(
            [sys.executable, "-m", "loadsheet_agent", "run", "scripts/demo/plan.toml", "--json"],
            cwd=ROOT,
            env={
                **site.environment,
                "LOADSHEET_URL": site.url,
                "LOADSHEET_TOKEN": token,
                "LOADSHEET_SPOOL": str(site.folder.path / "spool"),
                "LOADSHEET_AUTOCANNON": str(ROOT / "frontend/node_modules/.bin/autocannon"),
            },
            stdout=out,
            process_group=0,
            preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  one thread here
        )
    try:
        _wait(site, agent)
    finally:
        agent.terminate()
        agent.wait()
    return _upload_id(output)


def _wait(site: Site, agent: subprocess.Popen[bytes]) -> None:
    while agent.poll() is None:
        site.tend()
        time.sleep(0.1)


def _upload_id(output: Path) -> str:
    answer = _last_json(output.read_bytes())
    if answer.get("state") != "parsed":
        raise StartFailed(str(answer.get("detail") or answer.get("error") or answer))
    return str(answer["id"])


def _last_json(output: bytes) -> Mapping[str, str]:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.startswith("{")]
    try:
        answer: Mapping[str, str] = json.loads(lines[-1])
    except (IndexError, ValueError):
        return {"detail": "the agent ended without an answer; its lines above say why"}
    return answer
