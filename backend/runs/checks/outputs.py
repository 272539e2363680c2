"""Checks of outputs that are the same, byte for byte; a comparison finds them."""

from backend.runs.checks.check import Check

OUTPUT_CHECKS = (
    Check(
        id="duplicate",
        severity="warning",
        title="Same output as another trial",
        explanation="Trials of one server and load point have the same output, byte for byte: one "
        "file was uploaded again, or several trials name one file. The output counts once, so "
        "there are fewer trials than it seems. Two measurements of a few requests can print the "
        "same text by chance; counting one of them changes no figure, and the interval stays wide.",
        remedy="Upload the output of each trial as a file of its own; delete a run that holds only "
        "copies.",
    ),
    Check(
        id="same-output",
        severity="error",
        title="One output under several names",
        explanation="The same output, byte for byte, is recorded for several servers, versions, "
        "hosts or loads. It was measured once, so all but one of these names are wrong.",
        remedy="Delete the runs that have the wrong name.",
        withholds="all",
    ),
)
