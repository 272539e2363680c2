"""The facts of a host as a reader sees them."""

from backend.web.host_facts import shown_facts


def test_yes_and_no_are_words():
    assert shown_facts({"smt": False, "cpu_boost": True, "numa_nodes": 1, "nested": False}) == [
        ("SMT", "no"),
        ("NUMA nodes", 1),
        ("CPU boost", "yes"),
        ("nested", "no"),
    ]
