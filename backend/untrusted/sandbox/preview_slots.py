"""The slots of previews."""

from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy, Slots

PREVIEWS_RUNNING, PREVIEWS_WAITING, PREVIEWS_OF_VIEWER = 2, 2, 2
# Longer than one file of a preview takes, after which another viewer comes next.
PREVIEW_PATIENCE_S = 30.0
# The owner of what pages read again, whoever looks at them.
PAGES = object()


class TooManyPreviews(OwnerBusy):
    """The viewer has as many previews read as one may. The same request works later."""

    sentence = "One of your previews is being read, and another preview waits."


# A viewer never takes all slots, nor all places to wait. Between two files of a preview, others go
# first.
PREVIEWS = Slots(
    running=PREVIEWS_RUNNING,
    waiting=PREVIEWS_WAITING,
    of_owner=PREVIEWS_OF_VIEWER,
    running_of_owner=1,
    patience_s=PREVIEW_PATIENCE_S,
    refusals=(TooManyPreviews, Busy),
)
# Previews of people without an account never take the last slot of previews. One waits: a page
# previews by itself what was pasted, and the person may ask at the same time. An address that has
# one read leaves the place to wait to an address that has none.
STRANGERS = Slots(
    running=1, waiting=1, of_owner=PREVIEWS_OF_VIEWER, refusals=(TooManyPreviews, Busy)
)
