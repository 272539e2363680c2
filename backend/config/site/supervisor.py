"""`python -m backend.config.site.supervisor`: what scripts/start does once everything is installed.

Starts a site, shows its demo, and restarts processes that end, until it gets a signal.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

from backend.config.recovery.embedded import EmbeddedFailed
from backend.config.site.demo import load_library, show_demo
from backend.config.site.progress import say
from backend.config.site.site import ROOT, Site
from backend.config.site.site_folder import StartFailed
from backend.errors import LoadsheetError

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(LoadsheetError):
    """A signal asked to stop."""


def main() -> int:
    options = _options()
    for number in STOP_SIGNALS:
        signal.signal(number, _stop)
    site = Site(options.port, options.data.resolve())
    try:
        site.start()
        if options.no_demo:
            show_first_owner_link(site)
        else:
            # First: the demo measures, and nothing may disturb it.
            load_library(site)
            offer_demo(site)
        say(f"Loadsheet runs at {site.url}  (Ctrl-C stops it)")
        while True:
            site.tend()
            time.sleep(0.1)
    except Stopped:
        say("Stopping …")
        return 0
    except (EmbeddedFailed, StartFailed, OSError) as failed:
        print(f"scripts/start: {site.folder.explain(failed)}", file=sys.stderr)
        return 1
    finally:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        site.stop()


def offer_demo(site: Site) -> None:
    """Show the demo, if that is possible."""
    try:
        show_demo(site)
    except (StartFailed, EmbeddedFailed, OSError) as failed:
        # No reason to end a site that runs.
        say(
            f"{site.folder.explain(failed)} So the demo ended early. "
            "Loadsheet runs; the next start tries again."
        )


def show_first_owner_link(site: Site) -> None:
    """Print it, if nobody has an account yet."""
    try:
        link = site.attempt(lambda: site.manage("first_owner_link")).strip()
    except (StartFailed, EmbeddedFailed) as failed:
        # No reason to end a site that runs.
        say(f"{site.folder.explain(failed)} `manage.py first_owner_link` prints the link.")
        return
    if link:
        say(f"Open this within 12 hours to make the first account:\n\n    {link}\n")


def _options() -> argparse.Namespace:
    # scripts/start prints the help: it has it before anything is installed.
    parser = argparse.ArgumentParser(prog="scripts/start", add_help=False)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=ROOT / ".data")
    parser.add_argument("--no-demo", action="store_true")
    return parser.parse_args()


def _stop(*_: object) -> None:
    raise Stopped


if __name__ == "__main__":
    sys.exit(main())
