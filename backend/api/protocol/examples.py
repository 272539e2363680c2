"""Examples of the OpenAPI document: real answers, recorded by a test (API_EXAMPLES=record)."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("examples.json")
# Of answers and bodies that are no JSON, by content type.
_OTHERS: dict[str, Any] = {
    "text/plain": "Running 3s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n",
    "text/csv": "server,version,connections,throughput_rps\r\nnginx,1.27,64,9120\r\n",
    "application/toml": '[load]\nconnections = [1, 8, 64]\n\n[[servers]]\nname = "nginx"\n',
    "application/vnd.apache.parquet": "PAR1…",
    "application/zip": "PK…",
    "multipart/form-data": {"file": ["the bytes of ab.txt"], "tool": "ab"},
    "application/octet-stream": "the bytes of the part",
}


@lru_cache(maxsize=1)
def recorded() -> dict[str, dict[str, Any]]:
    """By operation: the body of its `request`, where it takes JSON, and its `answer`."""
    examples: dict[str, dict[str, Any]] = json.loads(PATH.read_text())
    return examples


def add_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the document: an example of each body and each answer."""
    for path in result["paths"].values():
        for operation in path.values():
            if "operationId" in operation:
                _add(operation, recorded().get(operation["operationId"], {}))
    return result


def _add(operation: dict[str, Any], example: dict[str, Any]) -> None:
    bodies = [operation.get("requestBody", {})]
    answers = [answer for code, answer in operation["responses"].items() if code < "300"]
    for parts, value in ((bodies, example.get("request")), (answers, example.get("answer"))):
        for part in parts:
            for content_type, content in part.get("content", {}).items():
                shown = _OTHERS.get(content_type, value)
                if shown is not None:
                    content["example"] = shown
