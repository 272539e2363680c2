"""Dockerfile and docker-compose.yml say nothing that the settings and the commands do not know.

No container engine is needed: both files are read, and held to the code.
"""

import importlib.util
import json
import re
import runpy
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from backend.config.environment.environment import VARIABLES
from backend.config.processes import heartbeat
from backend.config.serving import web_server
from backend.config.site import commands
from backend.problems import problem_response
from backend.sharing import drawing
from backend.untrusted.limits import ENVELOPE_ROOM_BYTES
from backend.untrusted.sandbox.sandbox import GRACE_S
from backend.untrusted.secrets.cleaner import NICE_PATIENCE
from backend.web.documents import agent_files

ROOT = settings.BASE_DIR
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = ("migrate", "web-a", "web-b", "worker", "beat", "backup")
WEB = ("web-a", "web-b")
SECRETS = {name for name, variable in VARIABLES.items() if variable.is_secret}
BIND = "0.0.0.0:8000"
# What images of others read; ours may set nothing that is neither here nor in the settings.
VARIABLES_OF_POSTGRES = {"POSTGRES_DB", "POSTGRES_USER", "POSTGRES_PASSWORD_FILE"}
VARIABLES_OF_BOTO = {"AWS_DEFAULT_REGION"}
VARIABLES_OF_PYTHON = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "TMPDIR"}
OTHERS = ("postgres", "reserve", "broker", "cache", "proxy", "certbot")
LASTING = sorted(set(SERVICES) - {"migrate"})
MAKE_SECRETS = runpy.run_path(str(ROOT / "scripts" / "make-secrets"))
ADDRESSES = MAKE_SECRETS["ADDRESSES"]
PROXY = ROOT / "proxy"
PROXY_TEXT = "".join((PROXY / name).read_text() for name in ("nginx.conf", "site.conf"))


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
        ("name", "policy"), [("broker", "noeviction"), ("cache", "allkeys-lru")]
    )
    def test_bounds_broker_and_cache_each_in_its_way(self, name, policy):
        command = SERVICES[name]["command"]
        values = dict(zip(command[1::2], command[2::2], strict=True))

        assert values["--maxmemory-policy"] == policy
        most = values["--maxmemory"].removesuffix("b")
        assert size_of(most) < size_of(SERVICES[name]["mem_limit"])
        assert values["--appendonly"] == "no"
        variable = {"broker": "REDIS_URL", "cache": "CACHE_URL"}[name]
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


class TestProxy:
    """How it behaves: test_proxy.py."""

    def test_asks_the_web_servers_that_there_are(self):
        port = BIND.split(":")[1]

        assert SERVICES["proxy"]["environment"]["UPSTREAMS"].split() == [
            f"{name}:{port}" for name in WEB
        ]

    def test_takes_the_largest_upload_and_no_larger_one(self):
        default = filled(SERVICES["proxy"]["environment"]["UPLOAD_MAX_BYTES"])

        assert default == VARIABLES["UPLOAD_MAX_BYTES"].default
        start = (PROXY / "start.sh").read_text()
        assert f"UPLOAD_MAX_BYTES=${{UPLOAD_MAX_BYTES:-{default}}}" in start
        assert f"UPLOAD_MAX_BYTES + {ENVELOPE_ROOM_BYTES}" in start

    def test_lets_go_of_a_connection_before_the_web_server_does(self):
        idle_s = re.search(r"keepalive 32;\s+keepalive_timeout (\d+)s", PROXY_TEXT)[1]

        assert int(idle_s) < web_server.keepalive

    def test_waits_as_long_as_a_search_for_secrets_may_take(self):
        waits_s = 60 * int(re.search(r"proxy_read_timeout (\d+)m", PROXY_TEXT)[1])

        assert waits_s > NICE_PATIENCE * int(VARIABLES["PARSE_CPU_S"].default) + GRACE_S

    def test_answers_as_the_service_does_where_the_service_cannot(self):
        problems = [json.loads(file.read_text()) for file in (PROXY / "errors").glob("*.json")]

        assert sorted(problem["status"] for problem in problems) == [413, 429, 503]
        for problem in problems:
            own = problem_response(
                *(problem[name] for name in ("status", "title", "detail")), hint=problem["hint"]
            )
            assert json.loads(own.content) == problem
            page = (PROXY / "errors" / f"{problem['status']}.html").read_text()
            assert problem["detail"] in page
            assert problem["hint"] in page
            assert f"error_page {problem['status']}" in PROXY_TEXT or problem["status"] == 503

    def test_leaves_bodies_to_the_web_server_which_judges_them(self):
        """Held in the proxy, those of strangers would take room of others."""
        assert "proxy_request_buffering off;" in PROXY_TEXT

    def test_is_trusted_for_what_it_sets_itself(self):
        assert SERVICES["web-a"]["environment"]["TRUST_PROXY"] == "true"
        assert "proxy_set_header X-Forwarded-For $remote_addr;" in PROXY_TEXT

    def test_gives_its_files_to_its_user_whatever_the_checkouts_umask_was(self):
        copies = re.findall(r"^COPY (.*)", (PROXY / "Dockerfile").read_text(), re.MULTILINE)

        files = " ".join(copies)
        assert all(copy.startswith("--chmod=0") for copy in copies)
        for file in PROXY.iterdir():
            assert file.name in files or file.name == "Dockerfile"

    def test_gives_its_user_the_certificates_that_certbot_obtains(self):
        assert SERVICES["certbot"]["user"] == "101:101"
        assert "certificates:/certificates" in SERVICES["certbot"]["volumes"]
        assert SERVICES["certbot"]["profiles"] == ["certbot"]


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
