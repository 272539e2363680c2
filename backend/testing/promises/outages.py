"""Services that are away: the broker (A3), PostgreSQL (A5), the bucket (A6), the disk (A7)."""

import contextlib
import signal
import time
from collections.abc import Mapping

import psutil

from backend.testing.promises.faulty_bucket import FaultyBucket
from backend.testing.promises.ground import Finding, Ground, Say, own_ground, spread
from backend.testing.strangers.hour import quantile
from backend.testing.supervised import fill, frozen

BROKER_AWAY_S = 300.0
BROKER_UPLOADS = 2000
ACCEPTED_WITHIN_S = 1.0

DATABASE_UPLOADS, DATABASE_SENDERS = 1000, 20
RESTARTS = (signal.SIGINT, signal.SIGQUIT) * 5
# Longer than the supervisor calls a child steady: each restart then has the first pause.
BETWEEN_RESTARTS_S = 65.0
RECOVERED_WITHIN_S = 30.0

BUCKET_AWAY_S, BUCKET_UNSURE_S = 120.0, 60.0
BUCKET_UPLOADS = 500
REFUSED_SHARE = 0.1

DISK_BYTES, LEAST_FREE_BYTES = 2 << 30, 128 << 20
DISK_UPLOADS, DISK_FULL_S = 600, 20.0
BACK_WITHIN_S = 60.0


def broker(say: Say) -> Finding:
    """Frozen for a half of the time, and killed whenever it comes back for the other."""
    with own_ground(say) as ground:
        with ground.sending(BROKER_UPLOADS, senders=8, within_s=BROKER_AWAY_S) as sending:
            sending.wait(until=20)
            began = time.monotonic()
            _freeze_broker(ground, BROKER_AWAY_S / 2)
            _keep_broker_dead(ground, BROKER_AWAY_S / 2)
            during, ended = sending.since(began), time.monotonic()
            sending.wait()
        took_s = sorted(answer.took_s for answer in during if answer.is_accepted)
        ground.finding.note(f"answers while the broker was away: {spread(took_s)}")
        ground.finding.note(f"after: {spread([each.took_s for each in sending.since(ended)])}")
        is_quick = bool(took_s) and quantile(took_s, 0.99) < ACCEPTED_WITHIN_S
        ground.finding.expect(is_quick, f"p99 is not below {ACCEPTED_WITHIN_S:g} s")
        refused = [answer.status for answer in during if not answer.is_accepted]
        ground.finding.expect(not refused, f"{len(refused)} uploads were refused")
        ground.expect_all_read(sending)
        return ground.finding


def _freeze_broker(ground: Ground, seconds: float) -> None:
    ground.say(f"the broker is frozen for {seconds:g} s")
    broker_process = ground.site.child("valkey")
    assert broker_process is not None
    with frozen([broker_process]):
        time.sleep(seconds)


def _keep_broker_dead(ground: Ground, seconds: float) -> None:
    ground.say(f"the broker is killed again and again for {seconds:g} s")
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        with contextlib.suppress(psutil.Error):
            if (broker_process := ground.site.child("valkey")) is not None:
                broker_process.kill()
        time.sleep(0.05)


def database(say: Say) -> Finding:
    """Restarted ten times, by turns in order and at once, while agents send."""
    lasts_s = len(RESTARTS) * BETWEEN_RESTARTS_S
    with own_ground(say) as ground:
        with ground.sending(
            DATABASE_UPLOADS, senders=DATABASE_SENDERS, within_s=lasts_s
        ) as sending:
            restarted_at = [_restart_database(ground, number) for number in RESTARTS]
            sending.wait()
        recovered_s = [
            next(answer.at_s for answer in sending.since(at_s) if answer.is_accepted) - at_s
            for at_s in restarted_at
        ]
        ground.finding.note(f"until the next upload was accepted: {spread(recovered_s)}")
        is_quick = max(recovered_s) <= RECOVERED_WITHIN_S
        ground.finding.expect(is_quick, f"a restart took more than {RECOVERED_WITHIN_S:g} s")
        faults = sending.ledger.answers["500"]
        ground.finding.expect(not faults, f"{faults} answers were 500")
        ground.expect_all_read(sending)
        return ground.finding


def _restart_database(ground: Ground, number: signal.Signals) -> float:
    """When it was told to end."""
    time.sleep(BETWEEN_RESTARTS_S)
    ground.say(f"PostgreSQL gets {number.name}")
    main = ground.site.child("postgres")
    assert main is not None
    told_at = time.monotonic()
    main.send_signal(number)
    return told_at


def bucket(say: Say) -> Finding:
    """Refuses everything for a time, then one request of ten."""
    with FaultyBucket() as store, own_ground(say, variables=store.variables) as ground:
        lasts_s = BUCKET_AWAY_S + BUCKET_UNSURE_S
        with ground.sending(BUCKET_UPLOADS, senders=4, within_s=lasts_s) as sending:
            sending.wait(until=20)
            ground.say(f"the bucket refuses everything for {BUCKET_AWAY_S:g} s")
            store.refused_share = 1.0
            time.sleep(BUCKET_AWAY_S)
            ground.say(f"the bucket refuses one of ten for {BUCKET_UNSURE_S:g} s")
            store.refused_share = REFUSED_SHARE
            time.sleep(BUCKET_UNSURE_S)
            store.refused_share = 0.0
            sending.wait()
        ground.finding.note(f"the bucket refused {store.refused} of {store.asked} requests")
        ground.expect_all_read(sending)
        _expect_verified(ground, store.variables)
        return ground.finding


def disk(say: Say) -> Finding:
    """Full to the last byte while uploads come."""
    variables = {"LEAST_FREE_BYTES": str(LEAST_FREE_BYTES)}
    with own_ground(say, variables=variables, disk_bytes=DISK_BYTES) as ground:
        if ground.disk is None:
            ground.finding.note("not tried: this user may not mount a small disk")
            return ground.finding
        started = ground.site.process.pid
        with ground.sending(DISK_UPLOADS, senders=4, within_s=2 * DISK_FULL_S) as sending:
            sending.wait(until=50)
            ground.say(f"the disk is full for {DISK_FULL_S:g} s")
            filler = ground.disk / "filler"
            fill(filler)
            time.sleep(DISK_FULL_S)
            filler.unlink()
            emptied_at = time.monotonic()
            sending.wait()
        back_s = next(each.at_s for each in sending.since(emptied_at) if each.is_accepted)
        ground.finding.note(f"the next upload was accepted after {back_s - emptied_at:.1f} s")
        is_back = back_s - emptied_at <= BACK_WITHIN_S and ground.site.process.pid == started
        ground.finding.expect(is_back, f"not back within {BACK_WITHIN_S:g} s")
        told = sending.ledger.answers["507"]
        ground.finding.expect(bool(told), "no sender was told that the disk is full")
        ground.expect_all_read(sending)
        _expect_verified(ground)
        return ground.finding


def _expect_verified(ground: Ground, variables: Mapping[str, str] | None = None) -> None:
    """Every row has its bytes, every byte its row; `variables` say where the bytes are."""
    done = ground.site.manage("verify", "--hash", variables=variables)
    ground.finding.expect(done.returncode == 0, f"manage.py verify: {done.stdout[-300:]}")
    ground.finding.note(f"manage.py verify --hash ended with status {done.returncode}")
