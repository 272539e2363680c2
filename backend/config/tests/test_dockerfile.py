"""The Dockerfile, read without a container engine, has only what settings and commands know."""

import json
import re

from backend.config.environment.environment import VARIABLES
from backend.config.site import commands
from backend.config.tests.containers import BIND, ROOT, SERVICES, VARIABLES_OF_PYTHON, instructions
from backend.sharing import drawing
from backend.web.documents import agent_files


class TestDockerfile:
    def test_starts_the_web_server_as_start_does(self):
        ((_, _, command),) = [one for one in instructions() if one[1] == "CMD"]

        assert json.loads(command) == commands.web(bind=BIND)

    def test_copies_only_what_is_there(self):
        stages = {stage for stage, _, _ in instructions()}
        for _, word, rest in instructions():
            if word != "COPY":
                continue
            sources = rest.split()[:-1]
            if sources[0].startswith("--from="):
                assert sources[0].removeprefix("--from=") in stages
                continue
            for source in sources:
                assert (ROOT / source).exists(), source

    def test_has_what_draws_images(self):
        copied = {rest.split()[-1] for stage, _, rest in instructions() if stage == "service"}
        program = drawing.PROGRAM.relative_to(ROOT).parent.as_posix()
        packages = ("@napi-rs", "dejavu-fonts-ttf")

        assert f"{program}/" in copied
        assert {f"frontend/node_modules/{name}/" for name in packages} <= copied
        assert "/usr/local/bin/node" in copied

    def test_has_the_files_that_builds_download(self):
        copied = {rest.split()[-1] for stage, _, rest in instructions() if stage == "service"}

        assert f"{agent_files.INTEGRATIONS.name}/" in copied

    def test_installs_what_the_requirements_pin(self):
        runs = [rest for stage, word, rest in instructions() if (stage, word) == ("service", "RUN")]

        assert any("--require-hashes --requirement requirements.txt" in run for run in runs)

    def test_copies_what_links_of_the_service_lead_to(self):
        links = [path for path in (ROOT / "backend").rglob("*") if path.is_symlink()]
        copies = [
            rest for stage, word, rest in instructions() if (stage, word) == ("service", "COPY")
        ]

        assert links
        for link in links:
            file = link.resolve().relative_to(ROOT)
            assert f"{file} {file}" in copies

    def test_sets_only_variables_that_are_read(self):
        names = set()
        for _, word, rest in instructions():
            if word == "ENV":
                names |= set(re.findall(r"(\w+)=", rest))

        assert names <= set(VARIABLES) | VARIABLES_OF_PYTHON

    def test_keeps_artefacts_in_the_volume_compose_mounts(self):
        said = {(word, rest) for _, word, rest in instructions()}

        assert ("VOLUME", SERVICES["web-a"]["environment"]["DATA_DIR"]) in said

    def test_does_not_run_as_root(self):
        users = [
            rest for stage, word, rest in instructions() if (stage, word) == ("service", "USER")
        ]

        assert users == ["loadsheet"]

    def test_builds_with_a_python_and_a_node_the_entry_scripts_accept(self):
        images = {stage: rest for stage, word, rest in instructions() if word == "FROM"}
        node = re.match(r"node:(\d+)", images["frontend"])[1]
        python = re.match(r"python:3\.(\d+)", images["service"])[1]

        assert int(node) >= 20
        assert int(python) >= 11

    def test_sends_no_secret_or_data_to_the_builder(self):
        lines = (ROOT / ".dockerignore").read_text().splitlines()
        patterns = [line for line in lines if line and not line.startswith("#")]

        assert patterns[0] == "*"
        sent = {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")}
        folders = {"agents", "backend", "docs", "frontend", "integrations"}
        assert sent == {*folders, "manage.py", "requirements.txt"}
