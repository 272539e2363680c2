"""An uploaded archive tells the same as one that the agent imports, though they share no code."""

from loadsheet_agent.imports import httparena as imported

from backend.formats.httparena import machine as uploaded


def test_notes_and_facts_of_the_machine_are_those_of_the_import():
    for name in ("NOTES", "MACHINE", "FACTS", "NETWORK_FACTS"):
        assert getattr(uploaded, name) == getattr(imported, name), name
