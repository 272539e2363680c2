"""Whatever the document of the API allows, and much that it does not, gets no 500.

schemathesis draws requests of every operation, the same ones each time; the texts and bodies that
broke services like this one are sent as well, at every place that takes one.
"""

import os
import uuid
from pathlib import Path

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings

from backend.sharing.models import Visibility
from backend.testing.scenes import make_result_set

pytestmark = pytest.mark.django_db
DOCUMENT = Path(__file__).parents[3] / "docs/openapi.yaml"
# Of each operation; in full with OPENAPI_EXAMPLES=500.
EXAMPLES = int(os.environ.get("OPENAPI_EXAMPLES", "20"))

schema = schemathesis.openapi.from_path(DOCUMENT)
OPERATIONS = [result.ok() for result in schema.get_all_operations()]


@pytest.fixture
def ids(scene):
    """What stands in a path, by the name of its parameter."""
    shared = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    return {
        "run_id": str(scene.run.pk),
        "trial_id": str(scene.trial.pk),
        "upload_id": str(scene.upload.pk),
        "artefact_id": str(scene.artefact.pk),
        "link": str(shared.link),
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


def is_uuid(text):
    try:
        uuid.UUID(str(text))
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_drawn_request_gets_a_500(operation, scene, ids, application):
    drawn = settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    def check(case):
        for name, text in dict(case.path_parameters or {}).items():
            if name in ids and is_uuid(text):
                case.path_parameters[name] = ids[name]
        headers = {**(case.headers or {}), "Authorization": f"Bearer {scene.own.token}"}
        answer = case.call(app=application, headers=headers)
        assert answer.status_code < 500, case.as_curl_command()

    drawn(given(case=operation.as_strategy())(check))()
