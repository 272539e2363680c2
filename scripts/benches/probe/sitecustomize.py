"""What the memory of a process consists of, written to a file on a signal.

Python imports a module of this name at its start, from a folder of PYTHONPATH. So a bench asks the
processes of its own service, and the service knows nothing of it. SIGUSR1 writes the figures beside
this file, SIGUSR2 first gives free memory back to the system (malloc_trim).
"""

import ctypes
import gc
import json
import os
import signal
import sys


class Mallinfo2(ctypes.Structure):
    """As in malloc.h of glibc from 2.33 on, over all arenas."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def write_figures(number, _frame):
    libc = ctypes.CDLL(None)
    figures = {}
    # What is dead and not yet collected is no leak.
    gc.collect()
    if number == signal.SIGUSR2 and hasattr(libc, "malloc_trim"):
        figures["trimmed"] = libc.malloc_trim(0)
    figures["blocks"] = sys.getallocatedblocks()
    figures["objects"] = len(gc.get_objects())
    if hasattr(libc, "mallinfo2"):
        libc.mallinfo2.restype = Mallinfo2
        heap = libc.mallinfo2()
        figures["used"] = heap.uordblks + heap.hblkhd
        figures["free"] = heap.fordblks
    path = os.path.join(os.path.dirname(__file__), f"{os.getpid()}.json")
    with open(path + ".part", "w") as file:
        json.dump(figures, file)
    os.replace(path + ".part", path)


for each in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(each, write_figures)
