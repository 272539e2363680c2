"""Dockerfile and docker-compose.yml say nothing that the settings and the commands do not know.

No container engine is needed: both files are read, and held to the code.
"""

import json
import re
from urllib.parse import urlsplit

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands
from django.urls import resolve

from backend.config import commands
from backend.config.environment import VARIABLES
from backend.sharing import drawing

ROOT = settings.BASE_DIR
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = ("migrate", "web", "worker", "beat")
BIND = "0.0.0.0:8000"
# What images of others read; ours may set nothing that is neither here nor in the settings.
VARIABLES_OF_POSTGRES = {"POSTGRES_DB", "POSTGRES_USER", "POSTGRES_PASSWORD"}
VARIABLES_OF_PYTHON = {"PYTHONUNBUFFERED"}


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


class TestCompose:
    def test_has_the_five_processes(self):
        assert set(SERVICES) == {"postgres", "valkey", *OURS}

    @pytest.mark.parametrize(
        ("service", "expected"),
        [
            ("web", commands.web(bind=BIND)),
            ("worker", commands.worker()),
            ("beat", commands.beat()),
        ],
    )
    def test_runs_the_commands_that_start_runs(self, service, expected):
        assert SERVICES[service]["command"] == expected

    def test_migrates_by_a_command_django_has(self):
        python, manage, command, option = SERVICES["migrate"]["command"]

        assert (python, manage, option) == ("python", "manage.py", "--noinput")
        assert (ROOT / manage).exists()
        assert command in get_commands()

    @pytest.mark.parametrize("service", OURS)
    def test_sets_only_variables_the_settings_read(self, service):
        unknown = set(SERVICES[service]["environment"]) - set(VARIABLES)

        assert not unknown

    @pytest.mark.parametrize("service", OURS)
    def test_sets_every_variable_that_has_no_default(self, service):
        needed = {name for name, variable in VARIABLES.items() if variable.default is None}

        assert needed <= set(SERVICES[service]["environment"])

    def test_sets_only_variables_the_postgres_image_reads(self):
        assert set(SERVICES["postgres"]["environment"]) == VARIABLES_OF_POSTGRES

    def test_names_one_database_and_one_broker(self):
        environment = SERVICES["web"]["environment"]
        database = urlsplit(filled(environment["DATABASE_URL"]))
        broker = urlsplit(filled(environment["REDIS_URL"]))
        postgres = SERVICES["postgres"]["environment"]

        assert database.scheme == "postgresql"
        assert database.hostname in SERVICES
        assert broker.hostname in SERVICES
        assert database.path == f"/{postgres['POSTGRES_DB']}"
        assert database.username == postgres["POSTGRES_USER"]

    def test_keeps_no_secret_in_the_file(self):
        for name in ("SECRET_KEY", "TOKEN_PEPPER"):
            assert SERVICES["web"]["environment"][name].startswith(f"${{{name}:?")
        assert "${POSTGRES_PASSWORD:?" in SERVICES["web"]["environment"]["DATABASE_URL"]

    def test_waits_only_for_services_that_exist(self):
        for service in SERVICES.values():
            for other, condition in service.get("depends_on", {}).items():
                assert other in SERVICES
                is_checked = "healthcheck" in SERVICES[other]
                assert is_checked or condition["condition"] != "service_healthy"

    def test_names_only_volumes_and_networks_that_exist(self):
        for service in SERVICES.values():
            for volume in service.get("volumes", []):
                assert volume.split(":")[0] in COMPOSE["volumes"]
            assert set(service["networks"]) <= set(COMPOSE["networks"])

    def test_keeps_artefacts_where_web_and_worker_both_find_them(self):
        for name in ("web", "worker"):
            service = SERVICES[name]
            assert f"artefacts:{service['environment']['DATA_DIR']}" in service["volumes"]

    def test_asks_an_address_the_service_answers(self):
        check = " ".join(SERVICES["web"]["healthcheck"]["test"])
        url = urlsplit(re.search(r"http://[^']+", check)[0])

        assert resolve(url.path)
        assert str(url.port) == BIND.split(":")[1]
        assert url.hostname in filled(SERVICES["web"]["environment"]["ALLOWED_HOSTS"]).split(",")

    def test_publishes_the_port_the_web_server_listens_on(self):
        assert [port.split(":")[-1] for port in SERVICES["web"]["ports"]] == [BIND.split(":")[1]]

    def test_shows_the_database_and_the_broker_to_nobody_outside(self):
        assert COMPOSE["networks"]["inside"]["internal"] is True
        for name in ("postgres", "valkey", "worker", "beat"):
            assert SERVICES[name]["networks"] == ["inside"]
            assert "ports" not in SERVICES[name]


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

    def test_installs_what_the_requirements_pin(self):
        runs = [rest for stage, word, rest in instructions() if (stage, word) == ("service", "RUN")]

        assert any("--require-hashes --requirement requirements.txt" in run for run in runs)

    def test_sets_only_variables_that_are_read(self):
        names = set()
        for _, word, rest in instructions():
            if word == "ENV":
                names |= set(re.findall(r"(\w+)=", rest))

        assert names <= set(VARIABLES) | VARIABLES_OF_PYTHON

    def test_keeps_artefacts_in_the_volume_compose_mounts(self):
        said = {(word, rest) for _, word, rest in instructions()}

        assert ("VOLUME", SERVICES["web"]["environment"]["DATA_DIR"]) in said

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
        assert sent == {*("agents", "backend", "docs", "frontend", "manage.py", "requirements.txt")}
