"""deploy/kubernetes is rendered, fits the schemas of Kubernetes, and says what Compose says.

No cluster is needed: `kubectl kustomize` renders files.
"""

import functools
import os
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from django.conf import settings
from django.urls import resolve

from backend.config.environment.environment import VARIABLES
from backend.config.processes import heartbeat
from backend.config.site import commands
from backend.untrusted.limits import largest_request

ROOT = settings.BASE_DIR
FOLDER = ROOT / "deploy" / "kubernetes"
SERVICES = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
MAKE_SECRETS = runpy.run_path(str(ROOT / "scripts" / "make-secrets"))
SECRETS = {name for name, variable in VARIABLES.items() if variable.is_secret}
# Not read by the settings: by boto3, and by Python.
READ_BESIDE = {"AWS_DEFAULT_REGION", "TMPDIR"}
# The oldest version that is still mended, and the newest one.
VERSIONS = ("1.34", "1.37")
PARTS = ("migrate", "web", "worker", "beat")
# smtps and smtp with STARTTLS.
MAIL_PORTS = {465, 587}
pytestmark = pytest.mark.processes


@functools.cache
def rendered(name):
    """The resources of `base` or `example`, the latter with made secrets."""
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not installed")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "kubernetes"
        shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("secrets"))
        MAKE_SECRETS["make"](str(copy / "example" / "secrets"), {}, os.geteuid())
        done = subprocess.run(
            [program, "kustomize", str(copy / name)], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return list(yaml.safe_load_all(done.stdout))


def of_kind(kind, name="example"):
    return [resource for resource in rendered(name) if resource["kind"] == kind]


def in_compose(part):
    """The service of Compose: there, web processes are two services that restart in turn."""
    return "web-a" if part == "web" else part


def workload(part):
    (found,) = (
        each
        for each in [*of_kind("Deployment"), *of_kind("Job")]
        if each["metadata"]["labels"]["loadsheet/part"] == part
    )
    return found


def pod(part):
    return workload(part)["spec"]["template"]["spec"]


def container(part):
    (only,) = pod(part)["containers"]
    return only


def config():
    (only,) = of_kind("ConfigMap")
    return only


def memory(text):
    """MiB of a size as Kubernetes or Compose writes it."""
    return int(text.rstrip("GMigm")) << (10 if "g" in text.lower() else 0)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["base", "example"])
def test_every_resource_fits_its_schema(name, version):
    assert len(rendered(name)) >= 14
    for resource in rendered(name):
        kubernetes_validate.validate(resource, version, strict=True)


def test_a_word_that_kubernetes_does_not_know_is_found():
    wrong = {**workload("web"), "spec": {**workload("web")["spec"], "replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


@pytest.mark.parametrize(
    ("part", "command"),
    [
        ("migrate", SERVICES["migrate"]["command"]),
        ("web", commands.web(bind="0.0.0.0:8000")),
        ("worker", commands.worker()),
        ("beat", commands.beat()),
    ],
)
def test_the_commands_are_those_of_compose(part, command):
    assert container(part)["command"] == command == SERVICES[in_compose(part)]["command"]


@pytest.mark.parametrize("part", PARTS)
def test_settings_are_those_that_are_read_and_secrets_are_files(part):
    box = container(part)
    assert box["envFrom"] == [{"configMapRef": {"name": config()["metadata"]["name"]}}]
    assert set(config()["data"]) <= (set(VARIABLES) - SECRETS) | READ_BESIDE
    (mount,) = (each for each in box["volumeMounts"] if each["name"] == "secrets")
    files = {each["name"]: each["value"] for each in box["env"]}

    assert mount["readOnly"] is True
    assert files == {f"{name}_FILE": f"{mount['mountPath']}/{name}" for name in SECRETS}
    needed = {name for name, variable in VARIABLES.items() if variable.default is None}
    assert needed <= SECRETS | set(config()["data"])


@pytest.mark.parametrize("part", PARTS)
def test_the_secret_has_a_file_for_each_and_no_other_user_reads_it(part):
    (secret,) = of_kind("Secret")
    (volume,) = (each["secret"] for each in pod(part)["volumes"] if each["name"] == "secrets")

    assert set(secret["data"]) == SECRETS
    assert volume["secretName"] == secret["metadata"]["name"]
    # As backend/config/environment/secret_files.py asks for.
    assert volume["defaultMode"] == 0o440
    assert pod(part)["securityContext"]["fsGroup"] == MAKE_SECRETS["OWNER"]


@pytest.mark.parametrize("part", PARTS)
def test_pods_have_few_rights(part):
    spec, box = pod(part), container(part)

    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == MAKE_SECRETS["OWNER"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert box["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "hostNetwork" not in spec
    assert all("hostPath" not in volume for volume in spec["volumes"])
    written = {mount["mountPath"] for mount in box["volumeMounts"] if not mount.get("readOnly")}
    assert written == {config()["data"]["DATA_DIR"], config()["data"]["TMPDIR"], "/tmp"}


@pytest.mark.parametrize("part", PARTS)
def test_memory_is_limited_as_in_compose(part):
    resources = container(part)["resources"]
    compose = memory(SERVICES[in_compose(part)]["mem_limit"])

    assert memory(resources["limits"]["memory"]) == (compose if part != "migrate" else 1024)
    assert memory(resources["requests"]["memory"]) <= memory(resources["limits"]["memory"])
    assert resources["requests"]["cpu"]


@pytest.mark.parametrize(
    ("probe", "path"),
    [("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")],
)
def test_web_is_asked_where_it_answers(probe, path):
    asked = container("web")[probe]["httpGet"]
    (port,) = container("web")["ports"]

    assert resolve(asked["path"])
    assert asked["path"] == path
    assert asked["port"] == port["name"]
    assert f"--bind=0.0.0.0:{port['containerPort']}" in container("web")["command"]
    (host,) = asked["httpHeaders"]
    assert host["value"] in config()["data"]["ALLOWED_HOSTS"].split(",")


@pytest.mark.parametrize("part", ["worker", "beat"])
def test_heartbeats_are_asked_as_in_compose(part):
    command = container(part)["readinessProbe"]["exec"]["command"]

    assert ["CMD", *command] == SERVICES[part]["healthcheck"]["test"]
    assert command[-1] in heartbeat.CHECKED_AFTER_S
    # Without a database no heartbeat is stored: a restart would end what is being read.
    assert "livenessProbe" not in container(part)


@pytest.mark.parametrize("part", ["web", "worker"])
def test_pods_end_as_late_and_one_after_the_other(part):
    compose_s = int(SERVICES[in_compose(part)]["stop_grace_period"].removesuffix("s"))

    assert pod(part)["terminationGracePeriodSeconds"] >= compose_s
    assert workload(part)["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


@pytest.mark.parametrize("part", ["web", "worker", "beat"])
def test_every_deployment_has_a_budget_that_lets_a_node_be_drained(part):
    labels = workload(part)["spec"]["template"]["metadata"]["labels"]
    (budget,) = (
        each["spec"]
        for each in of_kind("PodDisruptionBudget")
        if each["spec"]["selector"]["matchLabels"].items() <= labels.items()
    )
    fewest = {
        each["spec"]["scaleTargetRef"]["name"]: each["spec"]["minReplicas"]
        for each in of_kind("HorizontalPodAutoscaler")
    }.get(workload(part)["metadata"]["name"], 1)

    assert budget.get("maxUnavailable") == 1 or budget["minAvailable"] < fewest


def test_web_and_worker_are_scaled_and_beat_is_one():
    scaled = {each["spec"]["scaleTargetRef"]["name"] for each in of_kind("HorizontalPodAutoscaler")}

    assert scaled == {"loadsheet-web", "loadsheet-worker"}
    # Else each `kubectl apply` would set back what the autoscaler chose.
    for part in ("web", "worker"):
        assert "replicas" not in workload(part)["spec"]
    assert workload("beat")["spec"]["replicas"] == 1


def test_policies_close_every_pod_and_open_the_port_of_web():
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind("NetworkPolicy")}
    every = policies["loadsheet"]
    labels = workload("beat")["spec"]["template"]["metadata"]["labels"]
    (rule,) = policies["loadsheet-web"]["ingress"]

    assert every["podSelector"]["matchLabels"].items() <= labels.items()
    assert "ingress" not in every
    assert set(every["policyTypes"]) == {"Ingress", "Egress"}
    (port,) = container("web")["ports"]
    assert [each["port"] for each in rule["ports"]] == [port["containerPort"]]
    assert rule["from"]


def ports_out(part):
    """The ports that the policies together open to pods of `part`."""
    labels = workload(part)["spec"]["template"]["metadata"]["labels"]
    return {
        port["port"]
        for policy in of_kind("NetworkPolicy")
        if selects(policy["spec"]["podSelector"], labels)
        for rule in policy["spec"].get("egress", ())
        for port in rule["ports"]
    }


def selects(selector, labels):
    is_matched = selector.get("matchLabels", {}).items() <= labels.items()
    rules = selector.get("matchExpressions", ())
    assert {rule["operator"] for rule in rules} <= {"In"}
    return is_matched and all(labels.get(rule["key"]) in rule["values"] for rule in rules)


def test_mails_leave_where_they_are_sent():
    """Web sends those that a page asks for; the worker those of alerts and of leaked tokens."""
    assert {part for part in PARTS if ports_out(part) >= MAIL_PORTS} == {"web", "worker"}
    assert not any(ports_out(part) & MAIL_PORTS for part in ("migrate", "beat"))


def test_the_ingress_holds_the_limits_and_leads_to_web():
    (ingress,) = of_kind("Ingress")
    (service,) = of_kind("Service")
    notes = {
        name.removeprefix("nginx.ingress.kubernetes.io/"): value
        for name, value in ingress["metadata"]["annotations"].items()
    }
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]

    assert int(notes["proxy-body-size"].removesuffix("m")) << 20 == largest_request()
    # Bodies of strangers would fill the Ingress before the web process can refuse them.
    assert notes["proxy-request-buffering"] == "off"
    site = (ROOT / "proxy" / "site.conf").read_text()
    assert f"limit_conn at_once {notes['limit-connections']};" in site
    start = (ROOT / "proxy" / "start.sh").read_text()
    assert f"REQUESTS_PER_S:-{notes['limit-rps']}}}" in start
    assert f"BURST|$(({notes['limit-burst-multiplier']} * REQUESTS_PER_S))" in start
    assert path["backend"]["service"]["name"] == service["metadata"]["name"]
    labels = workload("web")["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert service["spec"]["ports"][0]["targetPort"] == container("web")["ports"][0]["name"]
    assert config()["data"]["PUBLIC_URL"] == f"https://{rule['host']}"


def test_one_image_by_its_digest():
    images = {container(part)["image"] for part in PARTS}

    assert len(images) == 1
    assert "@sha256:" in images.pop()
