"""The child process that takes secrets out of files.

It starts as `python -m backend.untrusted.secrets.clean_child`. It holds no credentials and imports
no Django. It writes one file alone: the rewritten one.
"""

import argparse
import os
import traceback
from pathlib import Path
from typing import Any

import orjson

from backend.untrusted.archives.decompress import BeyondLimit, DecompressionRefused, TooManyBytes
from backend.untrusted.sandbox.child import Limits, serve
from backend.untrusted.secrets.file_cleaning import answer_to, clean_file, clean_json
from backend.untrusted.secrets.rewriting import CannotClean


def main() -> None:
    """Serve requests until stdin ends, with a lower priority than other processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nice", type=int, default=0)
    # Only now: with a low priority from the beginning, its start took 10 s on a busy machine.
    os.nice(parser.parse_args().nice)
    serve(_answer)


def _answer(request: dict[str, Any], limits: Limits) -> bytes:
    answer: dict[str, Any]
    try:
        if "json" in request:
            answer = {"json": clean_json(request["json"])}
        else:
            answer = clean_file(Path(request["source"]), Path(request["target"]), limits)
    except (CannotClean, DecompressionRefused) as refused:
        answer = {
            "refused": str(refused),
            "is_too_large": isinstance(refused, BeyondLimit),
            "has_too_many_bytes": isinstance(refused, TooManyBytes),
        }
    except OSError as away:
        answer = answer_to(away, limits)
    except MemoryError:
        answer = {"fatal": "out_of_memory"}
    except Exception:  # a fault of ours: the parent logs it and refuses this upload alone
        answer = {"fatal": "fault", "traceback": traceback.format_exc()}
    return orjson.dumps(answer)


if __name__ == "__main__":
    main()
