"""Ports that are chosen before a server listens there."""

import socket

import pytest

from backend.config.recovery import embedded
from backend.config.recovery.embedded import free_port


def test_no_connection_of_a_client_takes_a_chosen_port():
    first = int(embedded.PORTS_OF_CLIENTS.read_text().split()[0])
    assert all(embedded.LEAST_PORT <= free_port() < first for _ in range(50))


def test_a_port_in_use_is_left_alone(monkeypatch):
    taken = free_port()
    monkeypatch.setattr(embedded, "LEAST_PORT", taken)
    monkeypatch.setattr(embedded, "_first_of_clients", lambda: taken + 1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", taken))
        assert free_port() != taken


@pytest.mark.parametrize("text", ["1024 65535", "", "nothing"])
def test_where_clients_may_have_every_port_the_system_chooses(monkeypatch, tmp_path, text):
    monkeypatch.setattr(embedded, "PORTS_OF_CLIENTS", tmp_path / "range")
    (tmp_path / "range").write_text(text)
    assert free_port() > 1023
