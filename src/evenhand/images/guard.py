"""Which network addresses a fetch may connect to: only those that are open to everybody."""

import errno
import ipaddress
import socket
from collections.abc import Callable
from typing import Any, TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
AddressInfo: TypeAlias = tuple[int, int, int, str, tuple[Any, ...]]

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Not all of them are private to every version of `ipaddress`.
_CLOSED = tuple(
    ipaddress.ip_network(block)
    for block in (
        "100.64.0.0/10",  # shared between the customers of a carrier
        "168.63.129.16/32",  # a cloud's own services, seen from its machines
        "192.0.0.0/24",  # protocol assignments
        "::/96",  # an IPv4 address, as it was once written
        "::ffff:0:0:0/96",  # an IPv4 address, translated (SIIT)
        "64:ff9b:1::/48",  # an IPv4 address behind a local translator
        "3fff::/20",  # documentation
        "fec0::/10",  # site-local
    )
)


class PrivateAddress(OSError):
    """A host's address lies in a private network, or on this machine. All say the same, so that several are one."""

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "the host has a private address")


def is_public(address: str) -> bool:
    """False for loopback, private, link-local, shared, reserved and multicast addresses, also inside an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return all(_is_open(one) for one in (parsed, *_inside(parsed)))


def may_be_public(host: str, allowed: Callable[[str], bool] = is_public) -> bool:
    """False where a URL's host is known to be private without asking anybody: an address that is not `allowed`, in
    whatever spelling, or a name of this machine. Other names are looked at when they are connected to."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return allowed("127.0.0.1")
    if ":" in name:
        return allowed(name)
    last = name.rpartition(".")[2]
    # No name ends in a number, so this is an address: 127.1, 2130706433 and 0x7f.1 are spellings of loopback.
    if last.isdecimal() or last.startswith("0x"):
        return allowed(name)
    return True


def anywhere(address: str) -> bool:  # noqa: ARG001  the rule that asks for nothing
    """Also this machine and private networks."""
    return True


def guarded_socket(allowed: Callable[[str], bool]) -> Callable[[AddressInfo], socket.socket]:
    """Makes the socket for an address about to be connected to, or raises PrivateAddress where it is not allowed.

    The address is looked at here and not when a name is resolved: a name may resolve to another one a moment later.
    """

    def make(info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, place = info
        if not allowed(str(place[0])):
            raise PrivateAddress
        return socket.socket(family, kind, protocol)

    return make


def _is_open(address: Address) -> bool:
    closed = any(address.version == block.version and address in block for block in _CLOSED)
    # An address of the translator NAT64 is as open as the IPv4 address inside it.
    reserved = address.is_reserved and address not in _NAT64
    return address.is_global and not (address.is_multicast or reserved or closed)


def _inside(address: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found: list[Address] = [one for one in (address.ipv4_mapped, address.sixtofour) if one is not None]
    if address in _NAT64:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return found
