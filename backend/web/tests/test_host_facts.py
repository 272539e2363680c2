"""The facts of a host as a reader sees them."""

from loadsheet_agent.host.facts import SYSCTLS

from backend.web.registry.host_facts import shown_facts


def test_yes_and_no_are_words():
    assert shown_facts({"smt": False, "cpu_boost": True, "numa_nodes": 1, "nested": False}) == [
        ("SMT", "no"),
        ("NUMA nodes", 1),
        ("CPU boost", "yes"),
        ("nested", "no"),
    ]


def test_every_setting_of_the_kernel_that_an_agent_sends_has_a_label():
    names = [path.rpartition("/")[2].replace("-", "_") for path in SYSCTLS]
    shown = shown_facts(dict.fromkeys(names, "1"))
    assert {label for label, _ in shown}.isdisjoint(name.replace("_", " ") for name in names)
    assert ("Longest listen queue (somaxconn)", "1") in shown


def test_the_libraries_of_a_score_have_labels():
    shown = shown_facts({"calibration": {"openssl": "3.0", "version": 1}})
    assert shown == [("Score: version of the test", 1), ("Score: OpenSSL library", "3.0")]
