"""docker-compose.yml, read without a container engine, has only what settings and commands know."""

import importlib.util
import re
import runpy
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from backend.config.environment.environment import VARIABLES
from backend.config.processes import heartbeat
from backend.config.site import commands
from backend.config.tests.containers import (
    BIND,
    COMPOSE,
    OURS,
    ROOT,
    SERVICES,
    VARIABLES_OF_PYTHON,
    WEB,
    filled,
    instructions,
)

SECRETS = {name for name, variable in VARIABLES.items() if variable.is_secret}
# What images of others read; ours may set nothing that is neither here nor in the settings.
VARIABLES_OF_POSTGRES = {"POSTGRES_DB", "POSTGRES_USER", "POSTGRES_PASSWORD_FILE"}
VARIABLES_OF_BOTO = {"AWS_DEFAULT_REGION"}
OTHERS = ("postgres", "reserve", "broker", "cache", "answers", "proxy", "certbot")
LASTING = sorted(set(SERVICES) - {"migrate"})
MAKE_SECRETS = runpy.run_path(str(ROOT / "scripts" / "make-secrets"))
ADDRESSES = MAKE_SECRETS["ADDRESSES"]


def size_of(text):
    """Bytes of a size as compose writes it: 512m, 2g."""
    return int(text[:-1]) << {"m": 20, "g": 30}[text[-1]]


class TestCompose:
    def test_has_our_processes_and_what_they_need(self):
        assert set(SERVICES) == {*OTHERS, *OURS}

    @pytest.mark.parametrize(
        ("service", "expected"),
        [
            *((name, commands.web(bind=BIND)) for name in WEB),
            ("worker", commands.worker()),
            ("beat", commands.beat()),
        ],
    )
    def test_runs_the_commands_that_start_runs(self, service, expected):
        assert SERVICES[service]["command"] == expected

    def test_migrates_by_a_command_django_has(self):
        shell, option, line = SERVICES["migrate"]["command"]

        assert (shell, option) == ("sh", "-c")
        for command in line.split(" && "):
            python, manage, name, *_ = command.split()
            assert (python, manage) == ("python", "manage.py")
            assert name in get_commands()

    @pytest.mark.parametrize("service", OURS)
    def test_passes_on_the_variables_that_are_read_and_no_other(self, service):
        names = set(SERVICES[service]["environment"]) - VARIABLES_OF_PYTHON
        files = {f"{name}_FILE" for name in SECRETS}

        assert names == (set(VARIABLES) - SECRETS) | files | VARIABLES_OF_BOTO

    @pytest.mark.parametrize("service", OURS)
    def test_sets_every_variable_that_has_no_default(self, service):
        needed = {name for name, variable in VARIABLES.items() if variable.default is None}

        given = {name.removesuffix("_FILE") for name in SERVICES[service]["environment"]}
        assert needed <= given

    def test_sets_only_variables_the_postgres_image_reads(self):
        assert set(SERVICES["postgres"]["environment"]) == VARIABLES_OF_POSTGRES

    def test_names_one_database_and_one_broker(self):
        database = urlsplit(ADDRESSES["DATABASE_URL"])
        postgres = SERVICES["postgres"]["environment"]

        assert database.scheme == "postgresql"
        assert database.hostname in SERVICES
        assert urlsplit(ADDRESSES["REDIS_URL"]).hostname in SERVICES
        assert database.path == f"/{postgres['POSTGRES_DB']}"
        assert database.username == postgres["POSTGRES_USER"]

    @pytest.mark.parametrize("name", sorted(SERVICES))
    def test_gives_secrets_as_files_alone(self, name):
        service = SERVICES[name]
        files = {
            key: path
            for key, path in (service.get("environment") or {}).items()
            if key.removesuffix("_FILE") in {*SECRETS, "POSTGRES_PASSWORD"}
        }

        assert files == {
            f"{each}_FILE": f"/run/secrets/{each}" for each in service.get("secrets", [])
        }
        assert not {*SECRETS, "POSTGRES_PASSWORD"} & set(service.get("environment") or {})

    def test_takes_every_secret_from_the_files_that_make_secrets_writes(self):
        files = {name: Path(secret["file"]) for name, secret in COMPOSE["secrets"].items()}

        assert set(files) == set(MAKE_SECRETS["NAMES"])
        assert all(path == Path("secrets") / name for name, path in files.items())

    def test_waits_only_for_services_that_exist(self):
        for service in SERVICES.values():
            for other, condition in service.get("depends_on", {}).items():
                assert other in SERVICES
                is_checked = "healthcheck" in SERVICES[other]
                assert is_checked or condition["condition"] != "service_healthy"

    def test_names_only_volumes_and_networks_that_exist(self):
        for service in SERVICES.values():
            for volume in service.get("volumes", []):
                name = filled(volume).split(":")[0]
                assert name in COMPOSE["volumes"] or name.startswith(("/", "./"))
            assert set(service["networks"]) <= set(COMPOSE["networks"])

    def test_keeps_artefacts_where_web_and_worker_both_find_them(self):
        for name in (*WEB, "worker"):
            service = SERVICES[name]
            assert f"artefacts:{service['environment']['DATA_DIR']}" in service["volumes"]

    def test_asks_an_address_the_service_answers(self):
        check = " ".join(SERVICES["web-a"]["healthcheck"]["test"])
        url = urlsplit(re.search(r"http://[^']+", check)[0])

        assert resolve(url.path)
        assert str(url.port) == BIND.split(":")[1]
        assert url.hostname in filled(SERVICES["web-a"]["environment"]["ALLOWED_HOSTS"]).split(",")

    def test_shows_the_proxy_only(self):
        assert COMPOSE["networks"]["inside"]["internal"] is True
        for name in set(SERVICES) - {"proxy", "certbot"}:
            assert SERVICES[name]["networks"] == ["inside"]
        for name in set(SERVICES) - {"proxy"}:
            assert "ports" not in SERVICES[name]

    def test_asks_the_database_over_tcp(self):
        # While it is first made, it answers on its socket only, and then stops once more.
        assert "--host=127.0.0.1" in SERVICES["postgres"]["healthcheck"]["test"]

    def test_migrates_again_when_the_database_went_away(self):
        assert SERVICES["migrate"]["restart"].startswith("on-failure")
        for name in (*WEB, "worker", "beat"):
            condition = SERVICES[name]["depends_on"]["migrate"]["condition"]
            assert condition == "service_completed_successfully"

    @pytest.mark.parametrize("name", LASTING)
    def test_brings_back_and_checks_every_service(self, name):
        assert SERVICES[name]["restart"] == "unless-stopped"
        assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"

    @pytest.mark.parametrize("name", sorted(SERVICES))
    def test_limits_every_service(self, name):
        service = SERVICES[name]

        assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
        assert service["pids_limit"] > 0
        assert service["read_only"] is True
        assert service["logging"]["options"] == {"max-size": "20m", "max-file": "5"}
        assert "no-new-privileges:true" in service["security_opt"]

    def test_gives_the_worker_room_for_two_readers(self):
        readers = 2 * int(VARIABLES["PARSE_MEMORY_BYTES"].default)

        assert size_of(SERVICES["worker"]["mem_limit"]) > readers

    @pytest.mark.parametrize(
        ("name", "policy"),
        [("broker", "noeviction"), ("cache", "allkeys-lru"), ("answers", "allkeys-lru")],
    )
    def test_bounds_each_valkey_in_its_way(self, name, policy):
        command = SERVICES[name]["command"]
        values = dict(zip(command[1::2], command[2::2], strict=True))

        assert values["--maxmemory-policy"] == policy
        most = values["--maxmemory"].removesuffix("b")
        assert size_of(most) < size_of(SERVICES[name]["mem_limit"])
        assert values["--appendonly"] == "no"
        variables = {"broker": "REDIS_URL", "cache": "CACHE_URL", "answers": "ANSWERS_URL"}
        variable = variables[name]
        assert urlsplit(ADDRESSES[variable]).hostname == name

    @pytest.mark.parametrize("part", ["worker", "beat", "backup"])
    def test_checks_the_heartbeats_that_there_are(self, part):
        python, option, module, name = SERVICES[part]["healthcheck"]["test"][1:]

        assert (python, option) == ("python", "-m")
        assert importlib.util.find_spec(module)
        assert name == part
        assert name in heartbeat.CHECKED_AFTER_S

    def test_keeps_a_reserve_on_the_disk_of_the_database(self):
        reserve, postgres = SERVICES["reserve"], SERVICES["postgres"]
        python, option, module, folder, server = reserve["command"]

        assert (python, option) == ("python", "-m")
        assert importlib.util.find_spec(module)
        assert f"database:{folder}" in reserve["volumes"]
        assert f"database:{folder}" in postgres["volumes"]
        # In an empty volume, the service that is created first decides who may write there. On a
        # full disk PostgreSQL is never healthy without it.
        assert reserve["depends_on"] == {"postgres": {"condition": "service_started"}}
        database = urlsplit(ADDRESSES["DATABASE_URL"])
        assert server == f"host={database.hostname} port={database.port}"

    @pytest.mark.parametrize("name", OURS)
    def test_shows_our_processes_how_full_the_disk_of_the_database_is(self, name):
        folder = SERVICES[name]["environment"]["DATABASE_DIR"]

        assert f"database:{folder}:ro" in SERVICES[name]["volumes"]

    def test_makes_backups_by_a_command_in_a_folder_of_its_own(self):
        backup = SERVICES["backup"]
        python, manage, name, *options = backup["command"]

        assert (python, manage) == ("python", "manage.py")
        parser = load_command_class(get_commands()[name], name).create_parser(manage, name)
        assert parser.parse_args(options).every > timedelta(0)
        folder = backup["environment"]["BACKUP_DIR"]
        assert f"${{BACKUP_DIR:-backups}}:{folder}" in backup["volumes"]
        assert set(SERVICES["worker"]["volumes"]) < set(backup["volumes"])
        # An upload is never near the backups.
        for other in set(OURS) - {"backup"}:
            assert not SERVICES[other]["environment"]["BACKUP_DIR"]
        assert folder in next(rest for _, word, rest in instructions() if "useradd" in rest)

    def test_keeps_temporary_files_on_a_disk_of_their_own(self):
        for name in (*WEB, "worker"):
            assert SERVICES[name]["environment"]["TMPDIR"] in SERVICES[name]["volumes"]
