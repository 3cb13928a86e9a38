"""Claims about a table of coefficients, checked against what its numbers say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Checked:
    """Base of the tables: properties are computed; a row may claim them, and a false claim is an error.

    ``claims={"order": 4, "symmetric": True}`` compares each name with the property of that name.
    """

    name: str

    def reason(self, claim: str) -> str:
        """Why a claim does not hold: the first condition that fails.

        Parameters
        ----------
        claim : str
            Name of a property, such as "order".

        Returns
        -------
        str
            A sentence, or nothing.
        """
        return ""

    def check_consistent(self, order: int) -> None:
        """Raise ValueError for coefficients of order 0: a constant field would move the state at another speed."""
        if order < 1:
            why = self.reason("order")
            raise ValueError(f"{self.name}: the weights must sum to 1 ({why}); give fractions as text, or all digits")

    def check_embedded(self, order: int | None, differs: bool) -> None:
        """Raise ValueError for an embedded method of order 0, whose estimate is of the motion rather than of its error,
        or that is the method itself, whose estimate is always zero.
        """
        if order is None:
            return
        if order < 1:
            why = self.reason("embedded_order")
            raise ValueError(
                f"{self.name}: the weights of the embedded method must sum to 1 ({why}); give fractions as text, or "
                "all digits"
            )
        if not differs:
            raise ValueError(
                f"{self.name}: the weights of the embedded method are those of the method: every error would be "
                "estimated as zero, and no tolerance be kept; leave them out, or correct them"
            )

    def check(self, claims: Mapping[str, Any]) -> None:
        """Raise ValueError for the first claim that the coefficients do not confirm."""
        for claim, claimed in claims.items():
            if not hasattr(type(self), claim):
                raise ValueError(f"{self.name}: claim {claim!r} is not a property of {type(self).__name__}")
            computed, claimed = getattr(self, claim), tuple(claimed) if isinstance(claimed, list) else claimed
            if computed != claimed:
                reason = f" ({self.reason(claim)})" if self.reason(claim) else ""
                raise ValueError(
                    f"{self.name}: {claim} = {claimed} is claimed, the coefficients give {computed}{reason}"
                )
