"""Which addresses are public, and that the one checked is the one connected to."""

import ipaddress
import math
import socket
import threading

import httpcore
import pytest

from backend.deliveries import public_address
from backend.deliveries.public_address import BoundedBackend, NotPublic, is_public
from backend.deliveries.special_addresses import GLOBAL_UNICAST, IPV4, IPV6, NAT64

PRIVATE = [
    *("127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.7"),
    *("::1", "::", "fe80::1", "fec0::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
    # IPv4 inside IPv6: mapped, 6to4, Teredo, NAT64.
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2001:0:1::1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    # Relays of 6to4.
    *("192.88.99.0", "192.88.99.1", "192.88.99.255", "::ffff:192.88.99.1"),
    # Assigned to protocols: the nearest device that maps ports, relays, or translates.
    *("192.0.0.8", "192.0.0.9", "192.0.0.10", "192.31.196.1", "192.52.193.1", "192.175.48.1"),
    *("64:ff9b::192.0.0.9", "2001:1::1", "2001:20::1", "2620:4f:8000::1"),
    # Documentation, and segments.
    *("3fff::1", "3fff:fff:ffff::1", "5f00::1"),
    # ISATAP, with and without the bit for a unique address.
    *("2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1", "fe80::5efe:8.8.8.8"),
    # IPv4 addresses that IPv6 carries, however public, and the first forms of that.
    *("::ffff:8.8.8.8", "2002:808:808::1", "2001:0:808:808::1", "::8.8.8.8", "::ffff:0:8.8.8.8"),
    *("64:ff9b:1::808:808", "100::1", "100:0:0:1::1", "4000::1", "fbff::1"),
]


@pytest.mark.parametrize("text", PRIVATE)
def test_addresses_that_are_not_public(text):
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        *("8.8.8.8", "93.184.216.34", "192.0.1.0", "223.255.255.255", "64:ff9b::808:808"),
        *("2606:4700::1111", "2001:200::1", "2001:db9::1", "3ffe:ffff::1", "3fff:1000::1"),
    ],
)
def test_addresses_that_are_public(text):
    assert is_public(ipaddress.ip_address(text))


def edges():
    """The first and last address of each block that the table or Python knows, and neighbours."""
    blocks = [ipaddress.ip_network(block) for block, _ in (*IPV4, *IPV6)]
    for constants in (ipaddress._IPv4Constants, ipaddress._IPv6Constants):
        for value in vars(constants).values():
            blocks += [value] if hasattr(value, "network_address") else []
            blocks += value if isinstance(value, list) else []
    for block in blocks:
        kind, bits = type(block.network_address), block.max_prefixlen
        first, last = int(block.network_address), int(block.broadcast_address)
        for number in (first - 1, first, (first + last) // 2, last, last + 1):
            if 0 <= number < 2**bits:
                yield kind(number)


def test_what_python_takes_for_private_is_never_public():
    addresses = list(edges())
    assert len(addresses) > 200
    translated = [each for each in addresses if each.version == 6 and each in NAT64]
    wrong = [each for each in addresses if not each.is_global and is_public(each)]
    assert set(wrong) <= set(translated)


# What Python calls global beyond the table: tunnels, and blocks that reach a special device.
STRICTER = [
    *("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24"),
    *("224.0.0.0/4", "2001::/23", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
]


def test_the_table_is_stricter_than_python_only_where_it_says_so():
    stricter = [ipaddress.ip_network(block) for block in STRICTER]
    for address in edges():
        is_unicast = address.version == 4 or address in GLOBAL_UNICAST
        if is_unicast and address.is_global and not is_public(address):
            assert any(address in block for block in stricter), address


def names(monkeypatch, *answers):
    """Let the n-th question to the name server get the n-th answer."""
    asked = []

    def getaddrinfo(host, port, **_):
        asked.append(host)
        addresses = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(public_address.socket, "getaddrinfo", getaddrinfo)
    return asked


@pytest.fixture
def connected(monkeypatch):
    """The addresses that were connected to."""
    addresses = []

    def connect_tcp(self, host, port, *_):
        addresses.append(host)
        raise httpcore.ConnectError("this test connects to nothing")

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connect_tcp)
    return addresses


def test_the_checked_address_is_connected_to_and_the_name_is_asked_once(monkeypatch, connected):
    asked = names(monkeypatch, ["8.8.8.8"], ["127.0.0.1"])
    with pytest.raises(httpcore.ConnectError):
        BoundedBackend(within_s=5).connect_tcp("hooks.example", 443)
    assert (asked, connected) == (["hooks.example"], ["8.8.8.8"])


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"]])
def test_a_name_that_leads_inside_is_refused_before_a_connection(monkeypatch, connected, addresses):
    names(monkeypatch, addresses)
    with pytest.raises(NotPublic, match="not a public address"):
        BoundedBackend(within_s=5).connect_tcp("hooks.example", 443)
    assert connected == []


def test_each_checked_address_is_tried(monkeypatch, connected):
    names(monkeypatch, ["2606:4700::1111", "8.8.8.8"])
    with pytest.raises(httpcore.ConnectError, match="connects to nothing"):
        BoundedBackend(within_s=5).connect_tcp("hooks.example", 443)
    assert connected == ["2606:4700::1111", "8.8.8.8"]


@pytest.mark.parametrize("is_private_allowed", [False, True])
def test_a_slow_name_server_ends_at_the_deadline(monkeypatch, connected, is_private_allowed):
    answered = threading.Event()
    monkeypatch.setattr(public_address.socket, "getaddrinfo", lambda *_, **__: answered.wait(120))
    with pytest.raises(httpcore.ConnectTimeout, match="not resolved in time"):
        BoundedBackend(within_s=0.2, is_private_allowed=is_private_allowed).connect_tcp(
            "hooks.example", 443
        )
    answered.set()
    assert connected == []


def test_silent_private_addresses_share_the_time(monkeypatch):
    """Where private addresses are allowed too, all of them together end at the deadline."""
    names(monkeypatch, ["10.0.0.1", "10.0.0.2", "10.0.0.3"])
    given = []

    def connect_tcp(self, host, port, timeout, *_):
        given.append(timeout)
        raise httpcore.ConnectTimeout("silent")

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connect_tcp)
    with pytest.raises(httpcore.ConnectTimeout):
        BoundedBackend(within_s=900, is_private_allowed=True).connect_tcp("hooks.example", 443)
    assert [math.ceil(each / 100) for each in given] == [3, 5, 9]


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "2130706433", "localhost", "::1"])
def test_spellings_of_this_machine_are_refused(host):
    with pytest.raises((NotPublic, httpcore.ConnectError)):
        BoundedBackend(within_s=5).connect_tcp(host, 443)
