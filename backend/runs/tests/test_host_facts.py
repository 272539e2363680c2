import pytest

from backend.runs.measured.host_facts import link_bits_s, local_ports


@pytest.mark.parametrize(
    ("facts", "bits"),
    [
        ({"server": {"nic_speed_mbit": 10_000}, "client": {"nic_speed_mbit": 1000}}, 1e9),
        ({"server": {"nic_speed_mbit": None}, "client": {"nic_speed_mbit": 1000}}, 1e9),
        ({"server": {"nic_speed_mbit": "fast"}}, None),
        ({"server": {"nic_speed_mbit": -1}}, None),
        ({}, None),
    ],
)
def test_the_slower_known_link_counts(facts, bits):
    assert link_bits_s(facts) == bits


@pytest.mark.parametrize(
    ("facts", "ports"),
    [
        ({"client": {"ip_local_port_range": "32768 60999"}}, (32768, 60999)),
        ({"server": {"ip_local_port_range": "15000 61000"}}, (15000, 61000)),
        ({"client": {"ip_local_port_range": "32768"}}, None),
        ({"client": {"ip_local_port_range": "9 8"}}, None),
        ({"client": {}}, None),
        ({}, None),
    ],
)
def test_the_clients_port_range(facts, ports):
    assert local_ports(facts) == ports
