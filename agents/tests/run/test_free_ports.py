"""Ports of servers are none that clients get."""

import socket

import pytest

from loadsheet_agent.run import free_ports as module
from loadsheet_agent.run.free_ports import free_ports


@pytest.fixture
def ports_of_clients(tmp_path, monkeypatch):
    path = tmp_path / "ip_local_port_range"
    monkeypatch.setattr(module, "PORTS_OF_CLIENTS", path)
    return path


def test_ports_lie_below_those_of_clients(ports_of_clients):
    ports_of_clients.write_text("20100\t60999\n")
    ports = free_ports(50)
    assert len(set(ports)) == 50
    assert all(10_000 <= port < 20_100 for port in ports)


def test_a_port_in_use_is_left_out(ports_of_clients):
    with socket.socket() as taken:
        (port,) = free_ports(1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        ports_of_clients.write_text(f"{port + 1} 60999")
        others = free_ports(3)
    assert port not in others


def test_the_system_chooses_where_no_port_lies_below(ports_of_clients):
    ports_of_clients.write_text("1024 65535")
    assert len(set(free_ports(3))) == 3


@pytest.mark.parametrize("text", [None, "", "no number"])
def test_the_usual_ports_of_clients_are_left_out_where_none_are_named(ports_of_clients, text):
    if text is not None:
        ports_of_clients.write_text(text)
    assert all(10_000 <= port < 32_768 for port in free_ports(20))
