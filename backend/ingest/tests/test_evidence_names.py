"""What people outside a workspace read of a rereading."""

from backend.ingest.reprocessing.rereadings import without_names


def test_a_refusal_is_told_without_the_names_of_files():
    refused = {"refused": "plans/secret.txt: no output of a load tool", "stopped": ""}
    assert without_names(refused) == {"refused": "Its output could not be read.", "stopped": ""}
    assert without_names({"refused": "", "stopped": "x"}) == {"refused": "", "stopped": "x"}
