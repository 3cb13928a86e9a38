"""Backward differentiation formulas of order k = 1 … 5 with fixed steps, on any product of groups.

The formula is applied to the motion in the chart at the newest state, y(t) = yₙ τ(u(t)), with past states known there
from the increments wᵢ of the last steps:

    u₁₋ⱼ = τ⁻¹(τ(−wₙ) τ(−wₙ₋₁) …),   u₀ = 0,      Σⱼ αⱼ u₁₋ⱼ = h g(t + h, u₁),      g = dτ_left(u)⁻¹ f(t, y τ(u))
    Σⱼ αⱼ zʲ = Σ_{m ≤ k} (1 − z)ᵐ/m,      yₙ₊₁ = yₙ τ(u₁),      wₙ₊₁ = u₁

In every chart the motion solves an equation with a smooth right-hand side, so that the error of a step is that of the
formula on Rⁿ; a change of chart shifts all values by the same amount, which Σ αⱼ = 0 does not see, and turns them by
O(h): the order on every group is k.  The first k − 1 steps, and those after an event, are taken by Radau IIA of order
5.  Orders 1 and 2 are A-stable; the others damp what decays, and let springs without dampers grow where h|ω| is small.
Source: Hairer and Wanner 1996, V.1 and V.2; Wieloch and Arnold 2021 (on groups).

coefficients
    those of Radau IIA; Q = 1, R = 1/α₀, α₁/α₀ … αₖ/α₀.
options
    those of Radau IIA; order k; 1 if the problem has a Jacobian (its own options end with the same).
own rows
    those of Radau IIA and its memory; w (k); c; u; g; k; state; the memory of the iteration.
"""
