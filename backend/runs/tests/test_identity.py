import pytest

from backend.runs.registry.identity import canonical_json


def test_equal_values_give_equal_bytes():
    assert canonical_json({"b": 1, "a": "ä"}) == canonical_json({"a": "ä", "b": 1})
    assert canonical_json({"a": "ä"}) == '{"a":"ä"}'.encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_json_number_is_refused(number):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"deep": [number]})
