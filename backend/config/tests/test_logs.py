"""Lines of the log: faults of strangers are told in a line, those of the code with a traceback."""

import json
import logging
import sys

import pytest
from django.core.exceptions import SuspiciousOperation, TooManyFieldsSent
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from backend.config.environment.logs import JsonFormatter
from backend.config.processes import error_reports
from backend.untrusted.limits import FILES, FORM_BYTES, FORM_FIELDS

SIGN_IN = "/accounts/login/"
FAULTS = {
    "fields": {"data": {f"field-{number}": "x" for number in range(FORM_FIELDS + 1)}},
    "files": {"data": {f"f{n}": SimpleUploadedFile("f", b"x") for n in range(FILES + 1)}},
    "bytes": {"data": {"login": "x" * (FORM_BYTES + 1)}},
    "host": {"data": {}, "headers": {"host": "evil.example"}},
}


@pytest.mark.django_db
@pytest.mark.parametrize("sent", FAULTS.values(), ids=FAULTS)
def test_a_form_that_is_refused_is_a_short_warning(sent, caplog):
    answer = Client().post(SIGN_IN, **sent)

    assert answer.status_code == 400
    (record,) = caplog.records
    line = JsonFormatter().format(record)
    told = json.loads(line)
    assert (told["level"], told["event"], told["path"]) == ("warning", "request_refused", SIGN_IN)
    assert told["reason"]
    assert "traceback" not in told
    assert len(line) < 1000


def refused_by(kind):
    """Log what Django's handler of requests logs of an exception."""
    try:
        raise kind("many")
    except kind:
        logger = logging.getLogger(f"django.security.{kind.__name__}")
        logger.error("many", exc_info=True, extra={"status_code": 400, "request": None})


def kinds(base=SuspiciousOperation):
    """Every kind that a package we use has made of it."""
    return [base, *(kind for derived in base.__subclasses__() for kind in kinds(derived))]


def test_every_kind_of_refusal_is_a_warning(caplog):
    for kind in kinds():
        refused_by(kind)

    assert len(caplog.records) >= 8
    told = {(line.levelname, line.getMessage(), line.exc_info) for line in caplog.records}
    assert told == {("WARNING", "request_refused", None)}


def test_a_fault_of_the_code_keeps_its_traceback(caplog):
    try:
        raise RuntimeError("ours")
    except RuntimeError:
        logging.getLogger("django.request").error("fault", exc_info=sys.exc_info())

    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert "RuntimeError: ours" in JsonFormatter().format(record)


def test_a_refusal_is_no_report_of_a_fault():
    refused = {"logger": f"django.security.{TooManyFieldsSent.__name__}", "level": "error"}

    assert error_reports._report_of(refused, None) is None
    assert error_reports._report_of({"logger": "django.request"}, None)
