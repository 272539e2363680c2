"""Where a request comes from, and the networks that a token is accepted from."""

import ipaddress
from collections.abc import Iterable, Mapping

from django.conf import settings

from backend.errors import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
MOST_NETWORKS = 20


class BadNetwork(InvalidInput):
    """A network is not written as CIDR."""


def sender_address(meta: Mapping[str, str]) -> Address | None:
    """The sender's address; None if the web server gave none.

    `X-Forwarded-For` counts only with TRUST_PROXY, and then only its last entry.
    """
    given = meta.get("REMOTE_ADDR", "")
    if settings.TRUST_PROXY:
        # Our own proxy wrote the last entry; a client can invent those before it.
        given = meta.get("HTTP_X_FORWARDED_FOR", given).rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return None
    # A socket of both families gives 192.0.2.1 as ::ffff:192.0.2.1.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_within(address: Address | None, networks: Iterable[str]) -> bool:
    """Whether `address` lies in one of the networks; an unknown address lies in none."""
    if address is None:
        return False
    return any(address in ipaddress.ip_network(network) for network in networks)


def are_within(networks: Iterable[str], outer: Iterable[str]) -> bool:
    """Whether each of `networks` lies in one of `outer`."""
    wider = [ipaddress.ip_network(network) for network in outer]
    return all(_is_inside(ipaddress.ip_network(network), wider) for network in networks)


def _is_inside(network: Network, wider: Iterable[Network]) -> bool:
    return any(
        other.version == network.version
        and int(other.network_address) <= int(network.network_address)
        and int(network.broadcast_address) <= int(other.broadcast_address)
        for other in wider
    )


def read_networks(words: Iterable[str]) -> list[str]:
    """Networks as CIDR, without repeats; a single address becomes a network of its own.

    Raises BadNetwork.
    """
    networks = list(dict.fromkeys(_network(word) for word in words))
    if len(networks) > MOST_NETWORKS:
        raise BadNetwork(f"There are {len(networks)} networks; expected at most {MOST_NETWORKS}.")
    return networks


def _network(word: str) -> str:
    try:
        return str(ipaddress.ip_network(word))
    except ValueError:
        raise BadNetwork(
            f"The network is “{word[:60]}”; expected CIDR without host bits, such as 192.0.2.0/24.",
            hint="For one address, write the address alone.",
        ) from None
