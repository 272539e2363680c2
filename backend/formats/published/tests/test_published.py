import pytest

from backend.formats import FormatError, RawArtefact, parse

HEAD = "# loadsheet published table\n# source: A table\n# published: 2011\n"


def read(text):
    return parse([RawArtefact.of("table.csv", text.encode())])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# loadsheet published table\n# published: 2011\nserver\n", "where its figures come from"),
        ("# loadsheet published table\n# source: A\n# published: May\nserver\n", "found: 'May'"),
        (f"{HEAD}# tool: {'x' * 81}\nserver\n", "at most 80 characters"),
        (HEAD, "has no rows"),
        (HEAD + "server,fast\na,1\n", "found: 'the column fast'"),
        (HEAD + "throughput_rps\n1\n", "Expected: server"),
        (HEAD + "server,server,throughput_rps\na,a,1\n", "once at most"),
        (HEAD + "server,throughput_rps\na,1,2\n", "3 fields"),
        (HEAD + "server,throughput_rps\n,1\n", "no server"),
        (HEAD + "server,throughput_rps\na,\n", "no figure in the row"),
        (HEAD + "server,keepalive,throughput_rps\na,true,1\n", "keepalive is true, not yes or no"),
        (
            HEAD + "server,throughput_rps\n" + "a,1\n" * 10_000,
            "divide the table into several files",
        ),
        (HEAD + "server,loop,throughput_rps\na,round,1\n", "the loop round, not open or closed"),
        (HEAD + "server,connections,throughput_rps\na,2147483648,1\n", "above 2147483647"),
        (HEAD + f"server,throughput_rps\n{'a' * 201},1\n", "more than 200 characters"),
        (HEAD + f"server,throughput_rps\n{'a' * 200_000},1\n", "field of the published table is"),
        (HEAD + f"server,{'a' * 200_000}\na,1\n", "at most 131,072 characters"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_what_is_expected(text, message):
    with pytest.raises(FormatError) as refused:
        read(text)
    assert message.lower() in str(refused.value).lower()


def test_a_wrong_row_leaves_the_others_readable():
    first, second = read(HEAD + "server,throughput_rps\na,fast\nb,2\n")
    assert isinstance(first, FormatError)
    assert first.line == 5
    assert second.server == {"name": "b"}


def test_the_longest_table_is_read_whole():
    assert len(read(HEAD + "server,throughput_rps\n" + "a,1\n" * (10_000 - 5))) == 10_000 - 5


def test_a_quoted_field_may_hold_a_comma():
    (trial,) = read(HEAD + 'server,throughput_rps\n"a, with b",1\n')
    assert trial.server == {"name": "a, with b"}


def disagreements(transfer, method="GET"):
    columns = "server,method,payload_bytes,throughput_rps,transfer_kib_s\n"
    (trial,) = read(f"{HEAD}{columns}a,{method},39107,620,{transfer}\n")
    return trial.disagreements


def test_a_transfer_rate_that_cannot_carry_the_responses_contradicts_the_row():
    (sentence,) = disagreements(524)
    assert sentence == (
        "620 requests/s of 39107 bytes are 23678 KiB/s, but the transfer rate is 524 KiB/s."
    )
    assert disagreements(23_800) == ()
    assert disagreements(524, "HEAD") == ()
