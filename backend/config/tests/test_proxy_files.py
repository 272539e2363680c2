"""The files of the proxy agree with the web server behind it, its limits and its answers."""

import json
import re

from backend.config.environment.environment import VARIABLES
from backend.config.serving import web_server
from backend.config.tests.containers import BIND, ROOT, SERVICES, WEB, filled
from backend.problems import problem_response
from backend.untrusted.limits import ENVELOPE_ROOM_BYTES
from backend.untrusted.sandbox.sandbox import GRACE_S
from backend.untrusted.secrets.cleaner import NICE_PATIENCE

PROXY = ROOT / "proxy"
PROXY_TEXT = "".join((PROXY / name).read_text() for name in ("nginx.conf", "site.conf"))


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
