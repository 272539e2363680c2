"""What the demo measures is installed with the service."""

import re
import tomllib

from django.conf import settings

PLAN = settings.BASE_DIR / "scripts" / "demo" / "plan.toml"
LOCKED = (settings.BASE_DIR / "requirements.txt").read_text()


def test_every_python_server_of_the_demo_is_in_the_lock_file():
    servers = tomllib.loads(PLAN.read_text())["servers"]
    modules = {
        command[command.index("-m") + 1]
        for server in servers
        if "-m" in (command := server["start"])
    }
    assert "gunicorn" in modules
    for module in modules:
        assert re.search(rf"^{re.escape(module)}==", LOCKED, re.MULTILINE), module
