"""What a written answer leaves in memory."""

import gc
import weakref

import pytest
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from backend.config.serving.middleware import GiveSlotsBack


class Data(dict):
    """A dict that can be watched."""


made = []


class Answering(APIView):
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def get(self, request):
        data = Data(a=1)
        made.append(weakref.ref(data))
        return Response(data)


def handle(request):
    return Answering.as_view()(request).render()


@pytest.fixture
def no_collector():
    gc.disable()
    made.clear()
    yield
    gc.enable()


def test_an_answer_leaves_nothing_for_the_garbage_collector(no_collector):
    response = GiveSlotsBack(handle)(APIRequestFactory().get("/"))
    assert response.content == b'{"a":1}'
    watched = weakref.ref(response)
    del response
    assert [made[0](), watched()] == [None, None]
