"""The Chromium that tests and benches drive."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str:
    """A Chromium to drive: given, installed, from the distribution, or Playwright's own."""
    chromium = _installed()
    if chromium is None and os.geteuid() == 0 and shutil.which("apt-get"):
        sys.stderr.write("Installing Chromium for the browser tests …\n")
        subprocess.run(["apt-get", "update", "-qq"], stdout=subprocess.DEVNULL, check=False)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "chromium"], stdout=subprocess.DEVNULL, check=False
        )
        chromium = _installed()
    if chromium is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
        chromium = _of_playwright()
    if chromium is None:
        sys.exit(
            "No Chromium was found. Install chromium from your system's packages, "
            "or set CHROMIUM to its path; `scripts/test --unit` runs without a browser."
        )
    return chromium


def _installed() -> str | None:
    given = os.environ.get("CHROMIUM")
    if given:
        return given
    return next((path for path in map(shutil.which, NAMES) if path), None)


def _of_playwright() -> str | None:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None
