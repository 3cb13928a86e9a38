"""Motion prescribed in time, for rheonomic joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import real, sequence, shown
from liegroup.compile.scalars import sincos


@dataclass(frozen=True)
class Motion:
    """x(t) = Σₖ cₖ tᵏ + Σⱼ aⱼ sin(wⱼ t + φⱼ), with its rate.

    Parameters
    ----------
    polynomial : sequence of float
        c₀, c₁, … (rad or m, over sᵏ).
    harmonics : sequence of (amplitude, angular frequency in rad/s, phase in rad)
        The oscillating part.

    Raises
    ------
    ValueError, TypeError
        Numbers that are not finite, harmonics that are no triples.

    Examples
    --------
    >>> from mechanics.joints import Motion
    >>> crank = Motion((0.0, 2.0))
    >>> crank.value(0.5), crank.rate(0.5), crank.acceleration(0.5), crank.is_constant
    (1.0, 2.0, 0.0, False)
    """

    polynomial: tuple[float, ...] = ()
    harmonics: tuple[tuple[float, float, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "polynomial", _numbers(self.polynomial, "polynomial"))
        triples = "triples (amplitude, angular frequency, phase)"
        harmonics = tuple(_numbers(row, "harmonics") for row in sequence(self.harmonics, "harmonics", triples))
        if any(len(row) != 3 for row in harmonics):
            raise ValueError(f"harmonics: {shown(self.harmonics)}, expected {triples}")
        object.__setattr__(self, "harmonics", harmonics)

    @property
    def is_constant(self) -> bool:
        """Whether it does not depend on time."""
        return not any(self.polynomial[1:]) and not any(a * w for a, w, _ in self.harmonics)

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
        x = 0 * t
        for k, c in enumerate(self.polynomial[2:], start=2):
            x = x + k * (k - 1) * c * t ** (k - 2)
        for a, w, phase in self.harmonics:
            x = x - a * w * w * sincos(w * t + phase)[0]
        return x


def _numbers(values: Any, name: str) -> tuple[float, ...]:
    return tuple(real(x, name) for x in sequence(values, name, "a sequence of finite numbers"))
