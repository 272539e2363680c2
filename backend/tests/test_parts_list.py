"""scripts/sbom has every locked package with its hashes."""

import json
import re
import subprocess
import sys

import pytest
from django.conf import settings

ROOT = settings.BASE_DIR
LOCK = (ROOT / "requirements.txt").read_text()


@pytest.fixture(scope="module")
def components():
    printed = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "sbom")], capture_output=True, check=True
    ).stdout
    bom = json.loads(printed)
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    return {each["purl"]: each for each in bom["components"]}


def test_every_python_package_is_listed_with_every_hash(components):
    listed = {purl: each for purl, each in components.items() if purl.startswith("pkg:pypi/")}
    assert len(listed) == len(re.findall(r"^\S+==", LOCK, re.MULTILINE))
    hashes = {hash_["content"] for each in listed.values() for hash_ in each["hashes"]}
    assert hashes == set(re.findall(r"sha256:(\w+)", LOCK))
    (django,) = (each for each in listed.values() if each["name"] == "django")
    assert f"Django=={django['version']}" in LOCK or f"django=={django['version']}" in LOCK


def test_the_packages_of_the_pages_are_listed_without_tools(components):
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    names = {each["name"] for purl, each in components.items() if purl.startswith("pkg:npm/")}
    assert "chart.js" in names
    tools = {path.rpartition("node_modules/")[2] for path, it in packages.items() if it.get("dev")}
    used = {
        path.rpartition("node_modules/")[2] for path, it in packages.items() if not it.get("dev")
    }
    assert names == used - {""}
    assert not names & (tools - used)
