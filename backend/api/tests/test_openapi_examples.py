"""Whatever the document of the API allows, and much that it does not, gets a documented answer.

schemathesis draws requests of every operation, the same ones each time: what the document allows,
what it does not allow, and chains in which one request uses the answer of another. Each answer has
a documented status, content type and shape. The texts and bodies that broke services like this one
are sent as well, at every place that takes one: none gets a 500.
"""

import os
import uuid
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    use_after_free,
)

from backend.runs.editing import correct
from backend.sharing.models import Visibility
from backend.testing.scenes import (
    make_alerts,
    make_result_set,
    make_saved_view,
    make_scene,
    make_shared_run,
)

pytestmark = pytest.mark.django_db
DOCUMENT = Path(__file__).parents[3] / "docs/openapi.yaml"
# Of each operation; in full with OPENAPI_EXAMPLES=500.
EXAMPLES = int(os.environ.get("OPENAPI_EXAMPLES", "20"))

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    # Only in full: the same requests are drawn only where the same modules are imported, and some
    # that seem to be against the document are allowed as an address has them.
    *([negative_data_rejection] if "OPENAPI_EXAMPLES" in os.environ else []),
]

# An answer to what the document does not allow: also one about the length of the body, which the
# service looks at first.
REFUSALS = ["400", "401", "403", "404", "405", "406", "409", "411", "413", "415", "422", "429"]

# Parameters that any text fits.
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}

schema = schemathesis.openapi.from_path(DOCUMENT)
schema.config.checks.negative_data_rejection.expected_statuses = REFUSALS
OPERATIONS = [result.ok() for result in schema.get_all_operations()]


@pytest.fixture
def ids(scene):
    """What stands in a path, by the name of its parameter."""
    shared = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    alerts = make_alerts(scene.own, scene.run)
    return {
        **{f"{noun}_id": str(alerts[noun]) for noun in ("alert", "rule", "channel")},
        "run_id": str(scene.run.pk),
        "trial_id": str(scene.trial.pk),
        "merge_id": str(uuid.uuid4()),
        "correction_id": str(correct(scene.run.pk, {"notes": "Why."}, author=None)[0].pk),
        "upload_id": str(scene.upload.pk),
        "artefact_id": str(scene.artefact.pk),
        "link": str(shared.link),
        "shared_link": str(make_shared_run(scene.own.workspace).link),
        "token_id": str(uuid.uuid4()),
        "user_id": str(scene.viewer.pk),
        "invitation_id": str(uuid.uuid4()),
        "view_id": str(make_saved_view(scene.own.workspace).pk),
    }


@pytest.fixture
def application():
    """The service as the web server calls it, inside the transaction of the test."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield get_wsgi_application()
    for signal in signals:
        signal.connect(close_old_connections)


def bearer(scene):
    return {"Authorization": f"Bearer {scene.own.token}"}


def is_uuid(text):
    try:
        uuid.UUID(str(text))
    except ValueError:
        return False
    return True


def drawn(**more):
    """Settings of hypothesis: the same requests each time, however busy the machine is."""
    return settings(
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        **more,
    )


def unfounded_checks(case):
    """None of the checks, but where the address of a case is as the document allows.

    In an address null, 5 and {} are texts, and one text is a list of one.
    """
    schemas = {each.name: each.definition["schema"] for each in case.operation.query}
    are_texts = (
        are_texts_when_sent(schemas[name], value)
        for name, value in dict(case.query or {}).items()
        if is_text(schemas.get(name, {})) or schemas.get(name) == TEXTS
    )
    return [negative_data_rejection] if any(are_texts) else []


def is_text(schema):
    """Whether it allows every text, or every one that is short enough."""
    return schema.get("type") == "string" and schema.keys() <= {"type", "maxLength"}


def are_texts_when_sent(schema, value):
    """Whether a value of another type than its parameter has is sent as the parameter allows."""
    items = value if isinstance(value, list) else [value]
    if is_text(schema):
        is_short = all(len(str(item)) <= schema.get("maxLength", inf) for item in items)
        return not isinstance(value, str) and len(items) <= 1 and is_short
    return not isinstance(value, list) or not all(isinstance(item, str) for item in items)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_a_drawn_request_gets_a_documented_answer(operation, scene, ids, application):
    def check(case):
        for name, text in dict(case.path_parameters or {}).items():
            if name in ids and is_uuid(text):
                case.path_parameters[name] = ids[name]
        headers = {**(case.headers or {}), **bearer(scene)}
        answer = case.call(app=application, headers=headers)
        checks = [each for each in CHECKS if each not in unfounded_checks(case)]
        case.validate_response(answer, checks=checks)

    modes = [operation.as_strategy(mode) for mode in GenerationMode]
    drawn(max_examples=EXAMPLES)(given(case=st.one_of(*modes))(check))()


@contextmanager
def scene_of_a_chain():
    """A scene that is gone afterwards, with what the chain changed."""
    with transaction.atomic():
        yield make_scene()
        transaction.set_rollback(True)


def test_requests_that_use_earlier_answers_get_documented_answers(application, settings):
    # What is drawn depends on the answers before it, and is drawn again to draw something else. So
    # a chain gets the same answers each time: it shares no rows with another chain, nor what is
    # kept or counted under their ids, and no answer depends on how fast the machine is.
    settings.PREVIEWS_PER_MINUTE = 1_000_000
    settings.LEAK_REPORTS_PER_MINUTE = 1_000_000

    class Chain(schema.as_state_machine()):
        def setup(self):
            self.world = ExitStack()
            self.scene = self.world.enter_context(scene_of_a_chain())

        def teardown(self):
            self.world.close()

        def get_call_kwargs(self, case):
            return {"app": application, "headers": bearer(self.scene)}

        def validate_response(self, response, case, **_):
            case.validate_response(response, checks=[*CHECKS, use_after_free])

    Chain.run(settings=drawn(max_examples=EXAMPLES, stateful_step_count=6))


HOSTILE_TEXTS = (
    *(
        "%00",
        "a%00b",
        "000000001" + "9" * 5000,
        "%ED%A0%80",
        "%FF",
        "NaN",
        "Infinity",
        "-1",
        "0",
        "1e999",
        "9" * 5000,
    ),
    *("9223372036854775808", "-9223372036854775809", "99999-01-01T00:00:00Z", "[" * 2000),
    *("%E2%80%AE", "%0D%0AX-A:%201", "..%2F..%2Fetc%2Fpasswd", "'\"><", "", "\N{BULLET}" * 2000),
)
BODIES = (
    *(b"", b"null", b"[]", b'""', b"{", b"NaN", b'{"a": Infinity}', b"9" * 5000, b"\xff\xfe"),
    *(b"[" * 100_000, b'{"a":' * 100_000, b'"\\ud800"', b'{"\\u0000": "\\u0000"}', b"1e999"),
    *(b'{"a": ' + b"9" * 400 + b"}", b'{"a": 1, "a": 2}', b'"' + b"x" * (1 << 20) + b'"'),
)


@pytest.fixture
def client(scene):
    client = Client(headers={"authorization": f"Bearer {scene.own.token}"})
    client.raise_request_exception = False
    return client


def path_of(operation, ids, **texts):
    """The address of an operation, with ids that exist where no text is given."""
    path = operation.path
    for name, value in {**ids, "artefact": "0" * 64, "number": "1", **texts}.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def raw_operations():
    return [pytest.param(operation, id=operation.label) for operation in OPERATIONS]


@pytest.mark.parametrize("operation", raw_operations())
def test_no_hostile_text_in_an_address_gets_a_500(operation, client, ids):
    method = operation.method.upper()
    for parameter in operation.path_parameters:
        for text in HOSTILE_TEXTS:
            path = path_of(operation, ids, **{parameter.name: text})
            assert client.generic(method, path).status_code < 500, path
    for parameter in operation.query:
        for text in HOSTILE_TEXTS:
            path = f"{path_of(operation, ids)}?{parameter.name}={text}"
            assert client.generic(method, path).status_code < 500, path[:300]


@pytest.mark.parametrize(
    "operation", [each for each in raw_operations() if each.values[0].method != "get"]
)
@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=b", "text/x"])
def test_no_hostile_body_gets_a_500(operation, client, ids, kind):
    for body in BODIES:
        answer = client.generic(operation.method.upper(), path_of(operation, ids), body, kind)
        assert answer.status_code < 500, body[:100]
