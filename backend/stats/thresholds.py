"""The limits that decide how a figure is judged, each with its reason.

Checks, intervals and comparisons read them from here. A workspace may choose its own relevant
share, and the number of trials below which `few-trials` warns; these are the defaults.
"""

# With two trials a t interval has one degree of freedom: it is too wide to say anything.
LEAST_TRIALS = 3
# From three runs on the run is the unit that repeats; fewer do not show how runs differ.
LEAST_RUNS = 3
# Fewer starts of a server in a run do not show how starts differ.
LEAST_STARTS = 3
# Runs of one server differ by this share (standard deviation) where no history says otherwise.
RUN_VARIATION = 0.03
# How many comparisons between runs of a history weigh as much as that assumption.
RUN_PRIOR = 8
# Figures that agree in every digit were rounded: half a step is at least this share.
LEAST_STEP = 0.0005
# Two loads show a rise or none, but no place where it ends.
LEAST_LOADS = 3
# A smaller difference (as a share) does not matter to a reader, however certain it is.
RELEVANT_SHARE = 0.02
# Differences and changes of the size that a negative answer names are found in four of five cases
# or more. 0.8 would do if the noise were known. That of a few trials is an estimate, and a drift
# that is searched for explains some of a step too.
ODDS_OF_FINDING = 0.95
# Above this share of failed attempts a server looks fast because it does less work.
HIGH_ERROR_RATE = 0.01
# Below this share of the offered rate the load is not the one that was asked for.
REACHED_SHARE = 0.98
# At least this many servers within this share of each other point to a limit they share.
CEILING_SERVERS = 3
CEILING_SHARE = 0.01


def percent(share: float) -> str:
    """`2 %`: a threshold as it appears in a sentence."""
    return f"{share * 100:g} %"


def missing_text(first: int, second: int) -> str:
    """What an interval needs, of two series of so many trials."""
    if first != second:
        least = min(first, second)
        return f"an interval needs at least {LEAST_TRIALS} trials of each, and one has {least}"
    missing = LEAST_TRIALS - first
    if first == 1:
        return f"one trial each gives no interval, so measure at least {missing} more of each"
    return f"an interval needs at least {missing} more trial{'s' * (missing != 1)} of each"
