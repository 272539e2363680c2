"""The Dockerfile and docker-compose.yml as the tests of containers read them."""

import re

import yaml
from django.conf import settings

ROOT = settings.BASE_DIR
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = ("migrate", "web-a", "web-b", "worker", "beat", "backup")
WEB = ("web-a", "web-b")
BIND = "0.0.0.0:8000"
VARIABLES_OF_PYTHON = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "TMPDIR"}


def instructions():
    """The Dockerfile as (stage, word, rest)."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    stage, read = None, []
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        word, rest = line.split(maxsplit=1)
        if word == "FROM":
            stage = re.search(r"\bAS (\w+)", rest)[1]
        read.append((stage, word, " ".join(rest.split())))
    return read


def filled(value):
    """A value as compose would fill it in from an environment that sets nothing."""
    return re.sub(r"\$\{\w+(?::-([^}]*)|[^}]*)\}", lambda found: found[1] or "given", str(value))
