"""Steps and the samples of inputs (`integrators.problem.Sampled`), between which a motion is smooth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from integrators.problem.driven import inputs_at, undriven

Array = NDArray[np.float64]
_CROWDED, _ANYWAY = 100, 100_000
"""Steps for each sample, or for each that is asked for, and in all, beyond which samples are too near each other."""
_NOTHING = 1e-4
"""Part of what an input says in a run, force times time, that may be passed over."""
_ROUNDED = 16.0
"""Spacings of times by which samples may miss the end of a step."""


def held_as_at(problem: Problem, t: float) -> Problem:
    """The problem whose sampled inputs keep their values: between samples the motion is smooth, and tells the step."""
    signal = problem.inputs.signal
    if signal is None or {*signal.kinds} != {"sampled"}:
        return problem
    return undriven(problem).with_inputs(inputs_at(problem, t, problem.y0))


def ending_at_samples(problem: Problem, span: tuple[float, float], step: float) -> float:
    """The next smaller step that ends at all samples of the inputs, where their times are multiples of one that is not
    much smaller than them; 0 where they are not.
    """
    marks, rounding = samples_within(problem, span)
    if not len(marks):
        return step
    marks = np.append(marks, abs(span[1] - span[0]))
    count = round(marks[-1] / _shortest(marks))
    spacing = marks[-1] / count
    off = np.abs(marks - spacing * np.round(marks / spacing)).max()
    if off > rounding or count > _most_for_samples(marks, marks[-1] / step):
        return 0.0
    return float(spacing / np.ceil(spacing / step * (1.0 - 1e-9)))


def within_samples(problem: Problem, span: tuple[float, float], step: float = np.inf) -> float:
    """The longest variable step that passes over no sample of an input and its next one, but for what is so short that
    it says nothing beside the rest; ValueError where it says something.
    """
    marks, _ = samples_within(problem, span)
    (begin, end), longest, signal = sorted(span), np.inf, problem.inputs.signal
    if signal is None or not len(marks):
        return longest
    least = (end - begin) / _most_for_samples(marks, (end - begin) / step)
    for sampled in signal.samples:
        ends = np.concatenate([[-np.inf], np.asarray(sampled.times), [np.inf]]).clip(begin, end)
        values = np.abs(np.asarray(sampled.values))
        held = values[:-1] if sampled.hold == "zero" else np.maximum(values[:-1], values[1:])
        values = np.vstack([values[:1], held, values[-1:]])
        lengths = np.diff(ends)
        crowded = lengths < least
        said = lengths @ values
        passed = lengths[crowded] @ values[crowded]
        if (passed > _NOTHING * said).any():
            k = int(np.argmax(np.where(crowded, (lengths[:, None] * values).max(axis=1), -1.0)))
            raise ValueError(
                f"inputs: the samples at {ends[k]:.10g} and {ends[k + 1]:.10g} s say something in less than "
                f"{least:.2g} s, the shortest steps chosen for their sake; give rtol and max_step, or other samples"
            )
        longest = min(longest, float(lengths[~crowded & (lengths > 0.0)].min(initial=np.inf)))
    return longest


def samples_within(problem: Problem, span: tuple[float, float]) -> tuple[Array, float]:
    """Times from the beginning to the samples of the inputs within an interval, those once that differ by rounding, and
    what rounding is.
    """
    signal, (begin, end) = problem.inputs.signal, sorted(span)
    rounding = _ROUNDED * float(np.spacing(max(abs(begin), abs(end))))
    times = np.unique(np.concatenate([np.zeros(0), *(x.times for x in (signal.samples if signal else ()))]))
    marks = np.sort(np.abs(times[(times > begin + rounding) & (times < end - rounding)] - span[0]))
    return marks[np.diff(marks, prepend=-np.inf) > rounding], rounding


def _most_for_samples(marks: Array, asked: float) -> float:
    """Steps for the sake of samples, at most; so many are asked for otherwise."""
    return max(_ANYWAY, _CROWDED * max(len(marks), asked))


def _shortest(marks: Array) -> float:
    return float(np.diff(marks, prepend=0.0).min())
