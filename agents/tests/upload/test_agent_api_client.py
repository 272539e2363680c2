"""Requests beside a run: a service that does not answer costs little, and is heard again soon."""

from __future__ import annotations

import httpx
import pytest

from loadsheet_agent.upload import api_client
from loadsheet_agent.upload.api_client import ApiClient
from loadsheet_agent.upload.target import Target

HOUR_S = 3600


class Service:
    """Answers with `status`, and notes when it was asked."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.status = 503
        self.asked_at_s: list[float] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked_at_s.append(self.now_s)
        return httpx.Response(self.status)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    service = Service()
    client = httpx.Client(transport=httpx.MockTransport(service.answer), base_url="http://service")
    monkeypatch.setattr(api_client, "open_client", lambda _: client)
    monkeypatch.setattr(api_client.time, "monotonic", lambda: service.now_s)
    return service


def ask_for(seconds: int, client: ApiClient, service: Service) -> None:
    """Ask once a second."""
    for _ in range(seconds):
        client.ask("GET", "/api/v1/me", 1.0)
        service.now_s += 1


def test_the_pause_after_a_failure_grows_to_a_minute_and_is_short_again(service: Service):
    client = ApiClient(Target("http://service", "token"))
    ask_for(HOUR_S, client, service)
    assert service.asked_at_s[:7] == [0, 5, 15, 35, 75, 135, 195]
    assert len(service.asked_at_s) <= HOUR_S / 60 + 4
    assert client.failures == HOUR_S

    service.status = 200
    ask_for(60, client, service)
    service.status, service.asked_at_s = 503, []
    ask_for(10, client, service)
    assert len(service.asked_at_s) == 2
