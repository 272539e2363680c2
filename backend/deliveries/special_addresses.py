"""The blocks of IANA's special-purpose registries, and the others where nobody can be reached.

As of October 2025:
https://www.iana.org/assignments/iana-ipv4-special-registry/
https://www.iana.org/assignments/iana-ipv6-special-registry/
Look there once a year, add what is new, and change the month above. Blocks that the registries
call globally reachable are here too: 192.0.0.9 leads to the nearest router that maps ports, which
is the operator's own, and nobody receives webhooks in the others.
"""

import ipaddress

IPV4 = (
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private use"),
    ("100.64.0.0/10", "shared by customers of one provider"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private use"),
    ("192.0.0.0/24", "protocol assignments: PCP and TURN anycast, NAT64 discovery, DS-Lite"),
    ("192.0.2.0/24", "documentation"),
    ("192.31.196.0/24", "AS112"),
    ("192.52.193.0/24", "relays of automatic multicast tunnels"),
    ("192.88.99.0/24", "relays of 6to4, given up"),
    ("192.168.0.0/16", "private use"),
    ("192.175.48.0/24", "AS112"),
    ("198.18.0.0/15", "benchmarks of devices"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    # Not of the registry: a group of receivers.
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved, with the broadcast address"),
)
# Those inside 2000::/3. Outside it, no address of IPv6 is public.
IPV6 = (
    ("2001::/23", "protocol assignments: Teredo, benchmarks, AMT, AS112, ORCHID, drones"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4, which carries an IPv4 address"),
    ("2620:4f:8000::/48", "AS112"),
    ("3fff::/20", "documentation"),
)
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
# The well-known prefix of a translator: its last 32 bits are the address that is reached.
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

_IPV4 = [ipaddress.IPv4Network(block) for block, _ in IPV4]
_IPV6 = [ipaddress.IPv6Network(block) for block, _ in IPV6]
# The middle of the interface identifier of ISATAP, before an IPv4 address: 0000:5efe or 0200:5efe.
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_special_ipv4(address: ipaddress.IPv4Address) -> bool:
    """Whether the address is in a block that is not of the public internet."""
    return any(address in block for block in _IPV4)


def is_special_ipv6(address: ipaddress.IPv6Address) -> bool:
    """As `is_special_ipv4`; also outside 2000::/3, and where a tunnel leads to an IPv4 address."""
    if address not in GLOBAL_UNICAST or (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return True
    return any(address in block for block in _IPV6)
