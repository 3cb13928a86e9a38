"""Motion prescribed in time, for rheonomic joints."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import check_function, real, reals, sequence, shown
from liegroup.compile.scalars import sincos

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """x(t) = Σₖ cₖ tᵏ + Σⱼ aⱼ sin(wⱼ t + φⱼ), or polynomials one after the other, with its rate and acceleration.

    Parameters
    ----------
    polynomial : sequence of float
        c₀, c₁, … (rad or m, over sᵏ).
    harmonics : sequence of (amplitude, angular frequency in rad/s, phase in rad)
        The oscillating part.
    pieces : sequence of (start, c₀, c₁, …)
        In the place of both, Σₖ cₖ (t − start)ᵏ from every start to the next: `from_function` and `from_samples` make
        them.
    until : float
        Where the last piece ends, s.  Before the first and behind the last the motion is NaN, and runs end.

    Raises
    ------
    ValueError, TypeError
        Numbers that are not finite, harmonics that are no triples, pieces of different lengths or beside the others,
        starts that do not increase.

    Examples
    --------
    >>> from mechanics.joints import Motion
    >>> crank = Motion((0.0, 2.0))
    >>> crank.value(0.5), crank.rate(0.5), crank.acceleration(0.5), crank.is_constant
    (1.0, 2.0, 0.0, False)
    """

    polynomial: tuple[float, ...] = ()
    harmonics: tuple[tuple[float, float, float], ...] = ()
    pieces: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    until: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "polynomial", _numbers(self.polynomial, "polynomial"))
        triples = "triples (amplitude, angular frequency, phase)"
        harmonics = tuple(_numbers(row, "harmonics") for row in sequence(self.harmonics, "harmonics", triples))
        if any(len(row) != 3 for row in harmonics):
            raise ValueError(f"harmonics: {shown(self.harmonics)}, expected {triples}")
        object.__setattr__(self, "harmonics", harmonics)
        rows = "rows (start, c0, c1, …) of one length, with starts that increase up to `until`"
        pieces = tuple(_numbers(row, "pieces") for row in sequence(self.pieces, "pieces", rows))
        until = real(self.until, "until")
        starts = [*(row[0] for row in pieces if row), until]
        if pieces and (len({len(row) for row in pieces}) > 1 or len(pieces[0]) < 2 or np.any(np.diff(starts) <= 0)):
            raise ValueError(f"pieces: {shown(self.pieces)}, until {until}, expected {rows}")
        if pieces and (self.polynomial or harmonics):
            raise ValueError("pieces: given beside a polynomial or harmonics, expected one or the other")
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "until", until)

    @staticmethod
    def from_function(
        function: Callable[[float], float],
        span: tuple[float, float],
        rate: Callable[[float], float] | None = None,
        acceleration: Callable[[float], float] | None = None,
        *,
        tolerance: float = 1e-13,
    ) -> Motion:
        """A function of the time alone, within an interval, to rounding.

        The function is asked now.  What runs is a spline of degree 7 through as many of its values as that takes,
        compiled: value, rate and acceleration belong together exactly.  It is compared with the function at 256 times
        or more, scattered over the interval; a bump that is shorter than what lies between them may be missed.

        Parameters
        ----------
        function : callable
            x(t), rad or m: jitted or plain, smooth; its derivatives are found from its values.
        span : (float, float)
            From when to when, s; beyond it runs end.
        rate, acceleration : callable, optional
            ẋ(t) and ẍ(t), if known: what does not belong to the function is refused.
        tolerance : float
            Of the values, relative to the greatest.

        Returns
        -------
        Motion
            In pieces.

        Raises
        ------
        TypeError
            No function, or one that returns no number.
        ValueError
            An interval that is none; values that are not finite; a function that is not smooth, or whose rate or
            acceleration is another than the one given, and where.

        Examples
        --------
        >>> import numpy as np
        >>> from mechanics.joints import Motion
        >>> push = Motion.from_function(lambda t: 0.1 * np.tanh(3.0 * t), (0.0, 5.0))
        >>> bool(abs(push.rate(0.5) - 0.3 / np.cosh(1.5) ** 2) < 1e-12)
        True
        """
        return _motion(_smooth(function, span, rate, acceleration, tolerance))

    @staticmethod
    def from_samples(times: ArrayLike, values: ArrayLike, *, degree: int = 5) -> Motion:
        """The spline through samples, with a continuous acceleration.

        Parameters
        ----------
        times : array (k,)
            Increasing, s.
        values : array (k,)
            x at the times, rad or m.
        degree : {3, 5}
            Cubic (the acceleration has kinks) or quintic.

        Returns
        -------
        Motion
            In pieces, from the first time to the last.

        Raises
        ------
        ValueError
            Times that do not increase, fewer samples than degree + 1, other sizes, numbers that are not finite.

        Examples
        --------
        >>> import numpy as np
        >>> from mechanics.joints import Motion
        >>> t = np.linspace(0.0, 2.0, 41)
        >>> bool(abs(Motion.from_samples(t, np.sin(t)).acceleration(1.01) + np.sin(1.01)) < 1e-6)
        True
        """
        t, x = reals(times, "times"), reals(values, "values")
        if degree not in (3, 5):
            raise ValueError(f"degree: {shown(degree)}, expected 3 or 5: the acceleration has to be continuous")
        if t.ndim != 1 or len(t) <= degree or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
            raise ValueError(f"times: {shown(times)}, expected at least {degree + 1} finite times that increase")
        if x.shape != t.shape or not np.isfinite(x).all():
            raise ValueError(f"values: shape {x.shape}, expected {t.shape} finite numbers")
        return _motion(_spline(t, x, degree))

    @property
    def is_constant(self) -> bool:
        """Whether it does not depend on time."""
        moved = any(any(row[2:]) for row in self.pieces) or len({row[1] for row in self.pieces}) > 1
        return not any(self.polynomial[1:]) and not any(a * w for a, w, _ in self.harmonics) and not moved

    @property
    def sizes(self) -> tuple[int, int]:
        """For the kernels: powers and harmonics, or −(coefficients of a piece) and pieces."""
        return (
            (1 - len(self.pieces[0]), len(self.pieces)) if self.pieces else (len(self.polynomial), len(self.harmonics))
        )

    @property
    def numbers(self) -> list[float]:
        """For the kernels: coefficients, harmonics; of pieces the times when it is known, starts, coefficients."""
        if not self.pieces:
            return [*self.polynomial, *(x for harmonic in self.harmonics for x in harmonic)]
        starts = [row[0] for row in self.pieces]
        return [*self._known, *starts, *(c for row in self.pieces for c in row[1:])]

    @property
    def _known(self) -> tuple[float, float]:
        """From when to when, a little beyond the ends: times of steps are rounded."""
        first = self.pieces[0][0]
        return first - _BEYOND * (self.until - first), self.until + _BEYOND * (self.until - first)

    def unknown(self, t: float) -> str:
        """From when to when a motion in pieces is known, if t is its end or beyond; empty otherwise.

        Parameters
        ----------
        t : float
            s.

        Returns
        -------
        str
            Half a sentence, or nothing.
        """
        if not self.pieces or self._known[0] <= t < 2 * self.until - self._known[1]:
            return ""
        return f"is known from {self.pieces[0][0]:g} to {self.until:g} s"

    def _derivatives(self, t: Any) -> tuple[Any, Any, Any]:
        """x, ẋ, ẍ of pieces."""
        now, (first, last) = getattr(t, "real", t), self._known
        if not first <= now <= last:
            return t * math.nan, t * math.nan, t * math.nan
        row = self.pieces[max(0, bisect_left(self.pieces, now, key=lambda row: row[0]) - 1)]
        s = t - row[0]
        x = v = a = 0 * s
        for c in reversed(row[1:]):
            x, v, a = x * s + c, v * s + x, a * s + 2 * v
        return x, v, a

    def value(self, t: Any) -> Any:
        """x(t).

        Parameters
        ----------
        t : scalar
            Time, s.

        Returns
        -------
        scalar
            rad or m.
        """
        if self.pieces:
            return self._derivatives(t)[0]
        x = 0 * t
        for k, c in enumerate(self.polynomial):
            x = x + c * t**k
        for a, w, phase in self.harmonics:
            x = x + a * sincos(w * t + phase)[0]
        return x

    def rate(self, t: Any) -> Any:
        """ẋ(t).

        Parameters
        ----------
        t : scalar
            Time, s.

        Returns
        -------
        scalar
            rad/s or m/s.
        """
        if self.pieces:
            return self._derivatives(t)[1]
        x = 0 * t
        for k, c in enumerate(self.polynomial[1:], start=1):
            x = x + k * c * t ** (k - 1)
        for a, w, phase in self.harmonics:
            x = x + a * w * sincos(w * t + phase)[1]
        return x

    def acceleration(self, t: Any) -> Any:
        """ẍ(t).

        Parameters
        ----------
        t : scalar
            Time, s.

        Returns
        -------
        scalar
            rad/s² or m/s².
        """
        if self.pieces:
            return self._derivatives(t)[2]
        x = 0 * t
        for k, c in enumerate(self.polynomial[2:], start=2):
            x = x + k * (k - 1) * c * t ** (k - 2)
        for a, w, phase in self.harmonics:
            x = x - a * w * w * sincos(w * t + phase)[0]
        return x


def _numbers(values: Any, name: str) -> tuple[float, ...]:
    return tuple(real(x, name) for x in sequence(values, name, "a sequence of finite numbers"))


# --- functions of time as pieces --------------------------------------------------------------------------------------

_BEYOND = 1e-9
"""How far beyond its ends a motion in pieces is known, relative to its interval."""
_DEGREE, _FEWEST, _MOST, _NEAR_ENDS = 7, 16, 2**15, 16
_CHECKS = 256
"""Times, at least, at which a spline is compared with its function before it is believed."""
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_EPS = float(np.finfo(float).eps)


def _spline(times: Array, values: Array, degree: int) -> PPoly:
    """The spline through samples, piece after piece."""
    from scipy.interpolate import PPoly, make_interp_spline

    spline = PPoly.from_spline(make_interp_spline(times, values, k=degree))
    real_pieces = np.diff(spline.x) > 0.0
    return PPoly(spline.c[:, real_pieces], np.append(spline.x[:-1][real_pieces], spline.x[-1]))


def _motion(spline: PPoly) -> Motion:
    rows = np.vstack([spline.x[:-1], spline.c[::-1]]).T
    return Motion(pieces=tuple(map(tuple, rows.tolist())), until=float(spline.x[-1]))


def _scattered(begin: float, end: float, count: int) -> Array:
    """Times all over an interval, in no step with its halves: what oscillates in step with these looks constant."""
    return begin + (end - begin) * (np.arange(1.0, count + 1.0) * _GOLDEN % 1.0)


def _unknown(times: Array, where: Array) -> NDArray[np.bool_]:
    """Which intervals are to be halved for what is not known at some places: all, or, where nothing else is, those near
    the ends, at which a spline is a thousand times worse than within.
    """
    count = len(times) - 1
    near = np.minimum(np.arange(count), np.arange(count)[::-1]) < _NEAR_ENDS
    bad = np.clip(np.searchsorted(times, where, side="right") - 1, 0, count - 1)
    return near if near[bad].all() else np.ones(count, dtype=bool)


def _smooth(function: Any, span: Any, rate: Any, acceleration: Any, tolerance: Any) -> PPoly:
    """The spline through ever more values of a function, until it knows those between them."""
    for given, name in ((function, "function"), (rate, "rate"), (acceleration, "acceleration")):
        if given is not None or name == "function":
            check_function(given, name, "a function of the time", 1)
    ends = _numbers(span, "span")
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise ValueError(f"span: {shown(span)}, expected two times (from, to) that increase, s")
    allowed = real(tolerance, "tolerance")
    if not 0.0 < allowed < 1.0:
        raise ValueError(f"tolerance: {tolerance}, expected a number between 0 and 1")

    def values(f: Any, times: Array, name: str) -> Array:
        return np.array([real(f(float(t)), f"{name}: at t = {t:g} s returned") for t in times])

    times = np.linspace(*ends, _FEWEST + 1)
    asked: dict[float, float] = {}

    def found(at: Array) -> Array:
        new = np.array([t for t in at.tolist() if t not in asked])
        asked.update(zip(new.tolist(), values(function, new, "function").tolist(), strict=True))
        return np.array([asked[t] for t in at.tolist()])

    while True:
        knots = found(times)
        spline, between = _spline(times, knots, _DEGREE), 0.5 * (times[1:] + times[:-1])
        scale = float(np.abs(knots).max())
        rounding = _EPS * max(map(abs, ends)) * float(np.abs(spline(times, 1)).max())
        limit = allowed * scale + 16.0 * rounding
        there, off = between, np.abs(spline(between) - found(between))
        if off.max() <= limit:
            there = _scattered(*ends, max(_CHECKS, len(between)))
            off = np.abs(spline(there) - values(function, there, "function"))
        if off.max() <= limit:
            break
        halved = _unknown(times, there[off > limit])
        if len(times) > _MOST and (halved.all() or len(times) > _MOST + 20 * _NEAR_ENDS):
            raise ValueError(
                f"function: not smooth near t = {there[np.argmax(off)]:g} s, or too long: {len(times)} values do not "
                f"tell it to {allowed:g} of the greatest, expected a prescribed motion with a continuous acceleration; "
                "smooth it, take a shorter span or a larger tolerance, or give harmonics or samples "
                "(Motion.from_samples)"
            )
        times = np.sort(np.concatenate([times, between[halved]]))
    for k, (given, name) in enumerate(((rate, "rate"), (acceleration, "acceleration")), start=1):
        if given is not None:
            own, told = spline(there, k), values(given, there, name)
            worst = int(np.argmax(np.abs(told - own)))
            if abs(told[worst] - own[worst]) > 1e-6 * (np.abs(own).max() + scale / (ends[1] - ends[0]) ** k):
                raise ValueError(
                    f"{name}: {told[worst]:.9g} at t = {there[worst]:g} s, expected {own[worst]:.9g}, the derivative "
                    "of the function"
                )
    return spline
