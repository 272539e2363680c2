"""The addresses of machines: what a URL says by itself, and what a name leads to."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from typing import Union
from urllib.parse import urlsplit

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine by its name alone."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def look_up(host: str) -> Sequence[Address]:
    """Every address of a name, however it is spelt; none where it has none."""
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    texts = {str(entry[4][0]).partition("%")[0] for entry in entries}
    return [_plain(ipaddress.ip_address(text)) for text in sorted(texts)]


def _plain(address: Address) -> Address:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
