"""Chains of requests in which one uses the answer of another: each gets a documented answer."""

from contextlib import ExitStack, contextmanager

import pytest
from schemathesis.specs.openapi.checks import use_after_free

from backend.api.tests.drawn_requests import (
    CHECKS,
    EXAMPLES,
    drawn,
    make_credentials,
    schema,
)
from backend.testing.scenes import make_scene
from backend.testing.transactions import taken_back

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_no_sender_has_to_wait")]


@contextmanager
def scene_of_a_chain():
    """A scene that is gone afterwards, with what the chain changed."""
    with taken_back():
        yield make_scene()


def test_requests_that_use_earlier_answers_get_documented_answers(application):
    # What is drawn depends on the answers before it, and is drawn again to draw something else. So
    # a chain gets the same answers each time: it shares no rows with another chain, nor what is
    # kept or counted under their ids, and no answer depends on how fast the machine is.
    class Chain(schema.as_state_machine()):
        def setup(self):
            self.world = ExitStack()
            scene = self.world.enter_context(scene_of_a_chain())
            self.credentials = make_credentials(scene)

        def teardown(self):
            self.world.close()

        def get_call_kwargs(self, case):
            return {"app": application, **self.credentials.sign(case.operation)}

        def validate_response(self, response, case, **_):
            case.validate_response(response, checks=[*CHECKS, use_after_free])

    Chain.run(settings=drawn(max_examples=EXAMPLES, stateful_step_count=6))
