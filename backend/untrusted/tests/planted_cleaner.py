"""A child that searches for secrets and misbehaves as the JSON asks: {"do": …, "path": …}."""

import ctypes
import os
import signal
from pathlib import Path

from backend.untrusted.secrets import clean_child, file_cleaning


class Planted:
    def value(self, asked):
        order, path = asked["do"], Path(asked["path"])
        if order == "ALLOCATE":
            bytearray(1 << 40)
        if order == "SPIN":
            while True:
                pass
        if order == "FAULT":
            raise KeyError("a fault")
        with path.open("a") as deaths:
            deaths.write("died\n")
        if order == "CRASH" or (order == "CRASH ONCE" and path.stat().st_size == len("died\n")):
            ctypes.string_at(0)
        if order == "KILL" or (order == "KILL TWICE" and path.stat().st_size <= 2 * len("died\n")):
            os.kill(os.getpid(), signal.SIGKILL)
        return asked


file_cleaning.REDACTOR = Planted()
clean_child.main()
