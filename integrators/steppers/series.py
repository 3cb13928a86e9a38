"""The inverse differential of the exponential, exactly or as a series cut off where the order of a method allows.

    dexp_left(u)⁻¹ k = k + ½ [u, k] + Σⱼ B₂ⱼ/(2j)! ad_u²ʲ k

Stage values u and k agree to first order, so ad_uᵏ k = O(hᵏ⁺¹), and B₃ = B₅ = … = 0: keeping powers up to 0, 1, 2, 4,
6, 8 gives order 2, 3, 5, 7, 9, 11.  On SO(3), SE(2), SE(3) the closed form costs less than the fourth power.  Source:
Munthe-Kaas 1999.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, st
from liegroup.table import bracket, dtau_inverse_left

EXACT = -1
"""In place of a highest power: the closed form, of any coordinate map."""
BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)
"""B₂ⱼ/(2j)! for j = 1, 2, 3, 4."""
POWERS = {2: 0, 3: 1, 5: 2, 7: 4, 9: 6, 11: 8}
"""Order reached → highest power that must be kept."""


def power_for(order: int) -> int:
    """The highest power of ad_u that a method of the given order needs."""
    return next(power for reached, power in POWERS.items() if reached >= order)


@helper
def inverse_differential(table: Any, tau: Any, highest: Any, u: Any, k: Any, x: Any, out: Any) -> None:
    """out = dτ_left(u)⁻¹ k, or the series up to ad_u to the power `highest`; x is scratch, out may be k."""
    if highest == EXACT:
        dtau_inverse_left(table, tau, u, k, out)
        return
    for m in range(x.shape[0]):
        value = ld(k, m)
        st(x, m, value)
        st(out, m, value)
    for power in range(1, highest + 1):
        bracket(table, u, x, x)
        if power == 1:
            factor = 0.5
        elif power % 2 == 0:
            factor = BERNOULLI[power // 2 - 1]
        else:
            factor = 0.0
        if factor != 0.0:
            for m in range(x.shape[0]):
                st(out, m, ld(out, m) + factor * ld(x, m))
