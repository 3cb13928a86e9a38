"""Does an invariant drift?  A straight line through its block means, with an uncertainty that counts their
correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import integer, reals

Array = NDArray[np.float64]
LEAST_SAMPLES = 8
"""Fewer samples say nothing about a slope."""


@dataclass(frozen=True)
class Drift:
    """What an invariant did.

    Attributes
    ----------
    slope, sigma : float
        Rate of change per unit of time, and its standard deviation; without drift |slope| exceeds 3 sigma once in
        hundreds of runs.
    mean : float
        Mean of the samples.
    band : float
        Largest minus least sample.
    correlation : float
        Correlation φ of the residuals of neighbouring blocks about the line.
    times, means : (blocks,)
        Block means and the mean times of the blocks.

    Examples
    --------
    See `energy_drift`.
    """

    slope: float
    sigma: float
    mean: float
    band: float
    correlation: float
    times: Array
    means: Array

    @property
    def significance(self) -> float:
        """|slope|/sigma; 0 for an exactly constant invariant, infinite for an exact line."""
        if self.sigma == 0.0:
            return 0.0 if self.slope == 0.0 else float("inf")
        return abs(self.slope) / self.sigma


def energy_drift(t: ArrayLike, energy: ArrayLike, blocks: int = 64) -> Drift:
    """Fit a straight line to an invariant along a run.

        slope = Σ wᵢ ēᵢ,   sigma² = Σᵢⱼ wᵢ wⱼ γ(i − j),   wᵢ = (tᵢ − t̄)/Σ (tⱼ − t̄)²

    over block means ēᵢ, with residuals that forget like φᵏ: γ(k) = γ₀ φᵏ, φ and γ₀ estimated from them without bias.

    Parameters
    ----------
    t, energy : array (n,)
        Samples along the run, n ≥ 8, evenly spaced or nearly so.
    blocks : int
        Largest number of blocks.

    Returns
    -------
    Drift
        Slope, its standard deviation, and what they were found from.

    Raises
    ------
    ValueError
        Shapes that differ, samples that are not finite, too few samples, or times that do not grow or fall.

    Notes
    -----
    Holds when the run is long against the periods of the motion: an oscillation slower than the run looks like a slope.
    sigma is right within 20 % for correlation times up to a tenth of the run (a test draws hundreds of runs).

    Examples
    --------
    >>> t = np.linspace(0, 100, 1001)
    >>> bounded, drifting = energy_drift(t, np.sin(t)), energy_drift(t, np.sin(t) + 0.05 * t)
    >>> bounded.significance < 3 < drifting.significance
    True
    """
    times, values = _samples(t, energy)
    count = min(integer(blocks, "blocks", LEAST_SAMPLES), len(times))
    first = values[0]  # taken off, so that a constant leaves no rounding
    block_times, means = (np.array([part.mean() for part in np.array_split(x, count)]) for x in (times, values - first))
    centred = block_times - block_times.mean()
    weights = centred / (centred @ centred)
    slope = float(weights @ means)
    residuals = means - means.mean() - slope * centred
    phi = _persistence(residuals)
    correlation = phi ** np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    line = np.stack([np.full(count, count**-0.5), centred / np.sqrt(centred @ centred)])
    freedom = count - float(np.trace(line @ correlation @ line.T))
    variance = float(residuals @ residuals) / freedom * float(weights @ correlation @ weights)
    mean, band = float(first + (values - first).mean()), float(np.ptp(values))
    return Drift(slope, float(np.sqrt(variance)), mean, band, phi, block_times, first + means)


def _persistence(residuals: Array) -> float:
    """Correlation φ of consecutive residuals about a fitted line, without the bias −(2 + 4φ)/n of the fit, in [0, 1 −
    1/n].
    """
    n, size = len(residuals), float(residuals @ residuals)
    if size == 0.0:
        return 0.0
    phi = float(residuals[1:] @ residuals[:-1]) / size
    return float(np.clip((phi + 2.0 / n) / (1.0 - 4.0 / n), 0.0, 1.0 - 1.0 / n))


def smooth_average(values: ArrayLike, axis: int = 0) -> Any:
    """Mean with the weight exp(−1/(x(1−x))), x the place in the window: oscillations of quasi-periodic motion cancel to
    1e-16.

    Parameters
    ----------
    values : array (…, n, …)
        Samples, evenly spaced.
    axis : int
        Along which.

    Returns
    -------
    array (…)
        The mean, without that axis.

    Raises
    ------
    ValueError
        No such axis, or no samples along it.

    Notes
    -----
    Plain means converge like 1/n and hide the slow growth of rounding errors behind the oscillation.

    References
    ----------
    S. Das, Y. Saiki, E. Sander, J. A. Yorke, Nonlinearity 30 (2017).

    Examples
    --------
    >>> t = np.arange(10000) * 0.1
    >>> bool(abs(smooth_average(np.cos(t))) < 1e-12 < abs(np.cos(t).mean()))
    True
    """
    values = reals(values, "values")
    if not -values.ndim <= axis < values.ndim:
        raise ValueError(f"axis: {axis}, expected one of an array values of shape {values.shape}")
    values = np.moveaxis(values, axis, 0)
    if not len(values):
        raise ValueError("values: no samples, expected at least one")
    x = (np.arange(len(values)) + 0.5) / len(values)
    weight = np.exp(-1.0 / (x * (1.0 - x)))
    return np.tensordot(weight / weight.sum(), values, axes=1)


def growth_exponent(n: ArrayLike, size: ArrayLike) -> tuple[float, float]:
    """Exponent of ``size ~ n**exponent`` and its standard deviation, from a line through the logarithms.

    Brouwer's law: 1/2 for the energy error of unbiased rounding, 1 for biased.

    Parameters
    ----------
    n : array (k,)
        Numbers of steps, positive, k ≥ 3.
    size : array (k,)
        Sizes of the error, positive.

    Returns
    -------
    exponent, sigma : float
        Slope of the line and its standard deviation.

    Raises
    ------
    ValueError
        Fewer than three pairs, numbers that are not positive and finite, or one n alone.

    References
    ----------
    Brouwer 1937.

    Examples
    --------
    >>> n = np.array([10.0, 100.0, 1000.0])
    >>> round(growth_exponent(n, 3e-16 * n**0.5)[0], 12)
    0.5
    """
    steps, sizes = reals(n, "n"), reals(size, "size")
    if (
        steps.shape != sizes.shape
        or steps.ndim != 1
        or len(steps) < 3
        or not all((x > 0) & (x < np.inf) for x in [*steps, *sizes])
    ):
        shapes = f"shapes {steps.shape} and {sizes.shape}"
        raise ValueError(f"n, size: {shapes}, expected at least 3 pairs of positive finite numbers")
    if steps.min() == steps.max():
        raise ValueError(f"n: {steps[0]:g} alone, expected at least two different numbers of steps")
    x, y = np.log(steps), np.log(sizes)
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    residuals = y - y.mean() - slope * centred
    return slope, float(np.sqrt(residuals @ residuals / (len(x) - 2) / (centred @ centred)))


def _samples(t: ArrayLike, energy: ArrayLike) -> tuple[Array, Array]:
    times, values = reals(t, "t"), reals(energy, "energy")
    if times.ndim != 1 or times.shape != values.shape:
        raise ValueError(
            f"t and energy have shapes {times.shape} and {values.shape}; expected two vectors of the same length"
        )
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        raise ValueError("t or energy is not finite; pass the part of the run before it failed")
    if len(times) < LEAST_SAMPLES:
        raise ValueError(f"t: {len(times)} samples; a slope needs at least {LEAST_SAMPLES}")
    steps = np.diff(times)
    if not ((steps > 0).all() or (steps < 0).all()):
        raise ValueError("t must grow (or fall) from sample to sample")
    return times, values
