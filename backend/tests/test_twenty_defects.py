"""Twenty ways in which the service was once frozen, filled, starved or made to lose, and the tests
that replay each. None of these tests may go without another in its place.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INGEST, API, CONFIG = "backend/ingest/tests/", "backend/api/tests/", "backend/config/tests/"
UNTRUSTED = "backend/untrusted/tests/"

# What went wrong, and the tests by file; a test of a class stands behind the class and a dot.
DEFECTS = {
    "1 A megabyte of text was searched for secrets for minutes, in the web process": [
        (
            UNTRUSTED + "test_redaction.py",
            "test_each_byte_of_the_worst_text_is_looked_at_about_once",
        ),
        (API + "test_hostile_bytes.py", "test_only_small_plain_text_is_cleaned_in_the_web_process"),
        (API + "test_hostile_bytes.py", "test_only_a_small_envelope_is_cleaned_in_the_web_process"),
        (API + "test_hostile_bytes.py", "test_a_megabyte_of_open_lists_is_received"),
        (
            CONFIG + "test_web_server.py",
            "test_odd_requests_are_refused_and_nothing_behind_them_is_answered",
        ),
    ],
    "2 A run of 5,000 trials had more parameters than a statement takes, and was tried for ever": [
        (INGEST + "test_large_runs.py", "test_an_upload_of_five_thousand_trials_is_recorded_whole"),
        (
            INGEST + "test_passing_faults.py",
            "test_a_statement_that_cannot_be_sent_is_no_passing_fault",
        ),
    ],
    "3 An envelope sent as a file, and the labels in it, had any size": [
        (API + "test_hostile_bytes.py", "test_an_envelope_above_the_limit_is_refused"),
        (API + "test_every_limit.py", "test_beyond_a_limit_the_answer_names_it"),
    ],
    "4 One workspace's uploads kept every reader, and each trial read its file again": [
        (
            INGEST + "test_turns.py",
            "test_an_upload_is_claimed_next_however_many_wait_elsewhere",
        ),
        (INGEST + "test_turns.py", "test_a_workspace_reads_at_most_so_many_uploads_at_a_time"),
        (
            INGEST + "test_turns.py",
            "test_a_file_that_many_trials_name_is_read_once_by_each_tool",
        ),
    ],
    "5 A parser that was killed failed a good upload for good": [
        (
            INGEST + "test_killed_parsers.py",
            "test_an_upload_whose_parser_was_killed_twice_is_read",
        ),
        (
            INGEST + "test_killed_parsers.py",
            "test_an_upload_whose_parser_dies_of_memory_each_time_fails_with_what_to_do",
        ),
    ],
    "6 The end of one process, or a full disk, ended the site": [
        (CONFIG + "test_supervisor.py", "test_a_killed_child_is_started_again_and_the_others_stay"),
        (
            CONFIG + "test_supervisor.py",
            "test_a_full_disk_ends_no_site_and_keeps_none_from_starting",
        ),
        (CONFIG + "test_short_disk.py", "TestShortDisk.test_refuses_uploads_and_nothing_else"),
    ],
    "7 A gzip file of empty members held a thread": [
        (
            UNTRUSTED + "test_decompress.py",
            "test_a_member_that_ends_copies_a_slice_of_what_follows_not_all_of_it",
        ),
        (
            API + "test_hostile_bytes.py",
            "test_a_gzip_of_empty_members_is_refused_by_their_number",
        ),
    ],
    "8 A worker whose clock was ahead read nothing": [
        (INGEST + "test_polling.py", "test_no_message_expires"),
        (INGEST + "test_polling.py", "test_without_a_broker_workers_read_what_is_committed"),
    ],
    "9 A dozen previews of one sender held the site": [
        (
            API + "test_slow_previews.py",
            "test_a_viewers_flood_gets_429_and_another_member_of_the_workspace_a_preview",
        ),
    ],
    "10 Slow senders took all threads, and strangers filled the disk with bodies": [
        (
            CONFIG + "test_web_server.py",
            "test_clients_slower_than_all_threads_together_delay_nobody",
        ),
        (
            CONFIG + "test_web_server.py",
            "TestBodies.test_of_strangers_are_left_unread_when_they_are_large",
        ),
        (
            CONFIG + "test_proxy.py",
            "TestLargeBodies.test_of_strangers_are_refused_before_they_are_read",
        ),
    ],
    "11 A revoked agent locked the people of its address out": [
        (
            API + "test_limits.py",
            "test_a_wrong_token_is_a_request_of_nobody_and_valid_ones_pass",
        ),
    ],
    "12 Deleted runs left their bytes and names": [
        (
            INGEST + "test_collector.py",
            "test_deleting_a_run_removes_its_bytes_and_names_but_shared_bytes_stay",
        ),
        ("backend/tests/test_erasure.py", "test_nothing_of_a_deleted_workspace_is_left"),
    ],
    "13 Deep JSON and NUL in an address were answered 500": [
        (API + "test_hostile_bytes.py", "test_json_beyond_a_limit_is_refused_by_every_endpoint"),
        (API + "test_hostile_bytes.py", "test_a_nul_in_an_address_is_refused"),
    ],
    "14 Refused uploads, small parts and half-received files filled the disk": [
        (API + "test_hostile_bytes.py", "test_a_refused_upload_leaves_no_file"),
        (API + "test_parts.py", "test_abandoned_parts_are_swept"),
        (
            INGEST + "test_collector.py",
            "test_old_leftovers_of_every_kind_are_removed_and_the_rest_stays",
        ),
    ],
    "15 Compose could stay down after its first start, and limited and checked nothing": [
        (CONFIG + "test_compose.py", "TestCompose.test_asks_the_database_over_tcp"),
        (
            CONFIG + "test_compose.py",
            "TestCompose.test_migrates_again_when_the_database_went_away",
        ),
        (CONFIG + "test_compose.py", "TestCompose.test_limits_every_service"),
        (CONFIG + "test_compose.py", "TestCompose.test_brings_back_and_checks_every_service"),
        (
            CONFIG + "test_compose.py",
            "TestCompose.test_bounds_each_valkey_in_its_way",
        ),
        ("backend/accounts/tests/test_commands.py", "TestMakeUser.test_leaves_a_user_who_is_there"),
        ("backend/accounts/tests/test_commands.py", "TestMakeWorkspace.test_makes_it_once"),
    ],
    "16 One viewer's comparisons, and changes of large runs and names, starved the others": [
        (
            API + "test_slow_work.py",
            "test_a_viewers_flood_of_comparisons_gets_429_and_another_viewer_an_answer",
        ),
        (
            "backend/web/tests/test_large_answers.py",
            "test_whoever_has_all_slots_is_told_to_wait_and_nothing_is_changed",
        ),
    ],
    "17 An ordinal of 2^31, and one file named twice in a trial, were accepted and then failed": [
        (API + "test_hostile_bytes.py", "test_an_envelope_beyond_a_limit_is_refused_by_its_place"),
    ],
    "18 A whole number of more than 4,300 digits was called a fault of the parser": [
        (
            API + "test_hostile_bytes.py",
            "test_an_output_with_a_number_of_five_thousand_digits_is_refused_with_a_sentence",
        ),
    ],
    "19 A database clock that was set back kept an upload waiting for an hour": [
        (INGEST + "test_queue.py", "test_a_lease_from_before_the_clock_was_set_back_is_ended"),
        (INGEST + "test_queue.py", "test_a_pause_from_before_the_clock_was_set_back_is_over"),
    ],
    "20 Guessable secrets, false counts, missing headers, certificates that nobody verified": [
        (
            CONFIG + "test_environment.py",
            "test_a_secret_that_can_be_guessed_is_refused_and_not_shown",
        ),
        (
            INGEST + "test_process.py",
            "test_results_that_could_not_be_read_are_counted_among_all_results",
        ),
        (CONFIG + "test_health.py", "test_headers_of_every_response"),
        (
            "agents/tests/run/test_agent_probe.py",
            "test_elsewhere_an_untrusted_certificate_is_refused_with_the_way_out",
        ),
    ],
}


def names_of(path):
    """The names of the tests of a file, those of a class behind its name and a dot."""
    for node in ast.parse((ROOT / path).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{each.name}" for each in node.body if is_function(each))


def is_function(node):
    return isinstance(node, ast.FunctionDef)


def test_there_are_twenty():
    assert [int(text.split()[0]) for text in DEFECTS] == list(range(1, 21))


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_is_replayed(defect):
    assert DEFECTS[defect]
    for path, name in DEFECTS[defect]:
        assert name in set(names_of(path)), f"{path} has no test {name}"
