"""A parse child whose parser misbehaves as the artefact's first word asks."""

import ctypes
import os
import signal
import sys
import time

from backend.untrusted.sandbox import parse_child


def start_sleepers():
    """Ten processes that hold the parser's end of the pipe for a minute."""
    for _ in range(10):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)


def flood():
    """A gigabyte into the pipe to the reader, in place of an answer."""
    pipes = [
        int(name)
        for name in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{name}") and int(name) > 2
    ]
    for _ in range(1024):
        for pipe in pipes:
            os.write(pipe, b"x" * (1 << 20))


def spin():
    while True:
        pass


def die_large():
    """As the kernel kills where memory runs out."""
    grown = b"x" * (300 << 20)
    os.kill(os.getpid(), signal.SIGKILL)
    return grown


def fork():
    start_sleepers()
    ctypes.string_at(0)


ORDERS = {
    b"ALLOCATE": lambda: bytearray(1 << 40),
    b"SEGFAULT": lambda: ctypes.string_at(0),
    b"SPIN": spin,
    b"EXIT": lambda: os._exit(7),
    b"KILL": die_large,
    # Until somebody else sends SIGCONT or SIGKILL.
    b"STOP": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    b"FORK": fork,
    b"FLOOD": flood,
    b"PRINT": lambda: sys.stdout.write("noise " * 10_000),
}


def parse(artefacts, *, tool=None):
    if artefacts:
        order = artefacts[0].open().read().split()[0]
        ORDERS.get(order, lambda: None)()
    return []


parse_child.parse = parse
parse_child.main()
