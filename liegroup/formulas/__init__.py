"""One file per group: the same names in the same order, on tuples of scalars of any type.

======================================================  =================================================================
name                                                    meaning (g, h group elements; x, y, δ in the algebra; μ covector)
======================================================  =================================================================
NAME, N_Q, N_V, N_POINT                                 text; lengths of the tuples g, x and of the points it acts on
identity, compose, inverse, act                         e, gh, g⁻¹, g·point
displace(q, d), advance(q, d)                           qτ − q and qτ for the difference d = τ − e, to relative precision
adjoint, coadjoint, bracket, bracket_transpose          Ad_g y, Ad_gᵀ μ, [x, y] = ad_x y, ad_xᵀ μ
hat, vee, matrix, from_matrix, project, defect          matrices as tuples of rows; nearest element; distance from the group
exp, exp_difference, log                                exp x, exp x − e, x
dexp_right, dexpinv_right, … _transpose                 (d/ds exp(x + sy))|₀ = (dexp_right(x) y)^ exp x, its inverse, transposes
dexpinv_left_derivative, dexpinv_left_gradient          d/dx(dexpinv_left(x)ᵀ μ)·δ and ∇ₓ⟨μ, dexpinv_left(x) ξ⟩
cay …                                                   the same for the Cayley map (e − x/2)⁻¹(e + x/2)
ccsk …                                                  the same for exp(x₁e₁)…exp(xₙeₙ); left- and right-trivialised
======================================================  =================================================================

exp and Cayley satisfy τ(−x) = τ(x)⁻¹, hence dτ_left(x) = dτ_right(−x): `liegroup.maps` says so once.
"""
