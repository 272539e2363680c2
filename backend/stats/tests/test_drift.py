from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from backend.stats.drift import exceed_drift

CORRELATIONS = np.arange(20) / 20


def misfit(means, starts):
    """−2 × the log likelihood, with the whole covariance of the positions written out."""
    count = len(means)
    lags = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    levels = np.zeros((count, len(starts) + 1))
    for number, (begin, end) in enumerate(pairwise([0, *starts, count])):
        levels[begin:end, number] = 1
    misfits = []
    for correlation in CORRELATIONS:
        covariance = np.where(lags == 0, 1.0, correlation ** np.maximum(lags, 1))
        weights = np.linalg.inv(covariance)
        best = np.linalg.solve(levels.T @ weights @ levels, levels.T @ weights @ means)
        left = means - levels @ best
        misfits.append(count * log(left @ weights @ left) + np.linalg.slogdet(covariance)[1])
    return min(misfits)


@pytest.mark.parametrize("starts", [[6], [3, 4], [2, 9, 15]])
def test_steps_are_weighed_against_a_drift_by_their_likelihoods(monkeypatch, starts):
    means = np.random.default_rng(starts).normal(0, 1, 20)
    means[starts[0] :] += 3
    gains = [misfit(means, []) - misfit(means, starts)]
    weakest = len(starts) - 1
    if weakest:
        gains[0] /= len(starts)
        gains.append(misfit(means, starts[:weakest]) - misfit(means, starts))
    for shift, is_more in ((-1e-6, True), (1e-6, False)):
        least = float(min(gains)) - log(len(means)) + shift
        monkeypatch.setattr("backend.stats.drift.LEAST_GAIN", least)
        assert exceed_drift((means + 7).tolist(), starts, weakest) is is_more


def test_a_step_is_no_drift_and_a_drift_is_no_step():
    noise = np.random.default_rng(2).normal(0, 0.1, 30)
    step = np.where(np.arange(30) < 12, 0.0, 1.0) + noise
    assert exceed_drift(step.tolist(), [12], 0)
    drift = [0.0]
    for each in noise[1:]:
        drift.append(0.9 * drift[-1] + float(each))
    assert not exceed_drift(drift, [12], 0)


def test_levels_without_any_noise_are_no_drift():
    assert exceed_drift([3.0] * 4 + [4.0] * 4, [4], 0)
    assert exceed_drift([exp(40.0)] * 4 + [exp(41.0)] * 4, [4], 0)


def test_a_step_of_nothing_is_no_step():
    assert not exceed_drift([3.0] * 8, [4], 0)
