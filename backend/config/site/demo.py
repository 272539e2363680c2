"""What a site shows from its first start on: the library, and the demonstration.

The library has the published benchmarks. For the demonstration the agent measures a few local
servers, once for a data folder.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from backend.config.recovery.embedded import ends_with_parent
from backend.config.site.demo_tool import offer_wrk
from backend.config.site.progress import say
from backend.config.site.site import ROOT, Site
from backend.config.site.site_folder import StartFailed


def show_demo(site: Site) -> None:
    """Say how to get in, and measure the demo servers once.

    A measurement that fails is no reason to stop what runs: the next start tries it again.
    """
    run = _read_run(site)
    if run:
        _sign_in(site, "the comparison", _comparison(run))
        _publish(site, run)
        return
    token = json.loads(site.manage("make_demo"))["token"]
    _sign_in(site, "the runs as they are measured", "/w/demo/runs")
    try:
        run = measure(site, token)
    except (StartFailed, OSError) as failed:
        say(f"The demo was not measured: {failed} Loadsheet runs; the next start tries again.")
        return
    _marker(site).write_text(run)
    _publish(site, run)
    # The first link is far up by now, and may be used.
    _sign_in(site, "the comparison of the demo", _comparison(run))


def _marker(site: Site) -> Path:
    return site.folder.path / "demo-run"


def _read_run(site: Site) -> str:
    """The id of the run that an earlier start measured; empty if there is none."""
    marker = _marker(site)
    return marker.read_text().strip() if marker.exists() else ""


def _comparison(run: str) -> str:
    return f"/w/demo/compare?run={run}"


def _sign_in(site: Site, what_it_shows: str, path: str) -> None:
    link = site.manage("sign_in_link", "--next", path).strip()
    say(f"Open this once to sign in and see {what_it_shows}:\n\n    {site.url}{link}\n")


def _publish(site: Site, run: str) -> None:
    """Show the demo to visitors too, and say what measured it.

    Without it the front page only lacks a comparison.
    """
    try:
        published = json.loads(site.manage("publish_demo", run))
    except StartFailed as failed:
        say(f"The front page shows no comparison: {failed}")
        return
    say(f"The demo was measured with {published['tool']}.")


def measure(site: Site, token: str) -> str:
    """Run the agent on its demo plan; returns the id of the upload, raises StartFailed."""
    offer_wrk(site.tend)
    say("Measuring the demo servers on this machine")
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


def load_library(site: Site) -> None:
    """Load what is not loaded yet. Where that fails the site runs without it."""
    try:
        site.manage("load_library")
    except (StartFailed, OSError) as failed:
        say(f"The library was not loaded: {failed} Loadsheet runs; the next start tries again.")
    else:
        say(f"The library of published benchmarks is at {site.url}/library/")
