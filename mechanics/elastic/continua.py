"""Continua: triangles (membranes in space) and tetrahedra of constant strain, of three hyperelastic materials.

    F = [x1 − x0, …] B,  B = [X1 − X0, …]⁻¹,  C = FᵀF,  V = volume ψ(F),  ∂V/∂x_a = volume P B_aᵀ,  P = ∂ψ/∂F

=======================  =============================================  ==============================================
material                 ψ                                              P
=======================  =============================================  ==============================================
St Venant–Kirchhoff      ½ λ tr²E + µ E:E,  E = ½ (C − 1)               F (λ trE 1 + 2µ E)
neo-Hookean              ½ µ (trC − d − 2 ln J) + ½ λ ln²J              µ (F − F⁻ᵀ) + λ ln J F⁻ᵀ
stable neo-Hookean       ½ µ (trC − 3) − µ (J − 1) + ½ (λ+µ) (J − 1)²   µ F + ((λ+µ) (J − 1) − µ) cof F
=======================  =============================================  ==============================================

with J = det F; of triangles J² = det C, F⁻ᵀ = F C⁻¹, moduli of plane stress times the thickness.  The neo-Hookean
energy grows without bound towards J = 0 and is no number beyond: a tetrahedron that an explicit step has turned inside
out ends the run, with its number.  St Venant–Kirchhoff has no force at J = 0 and rests inside out, too; the stable form
is finite everywhere and pushes back.
Sources: Bonet and Wood 2008; Smith, De Goes and Kim 2018 (stable form, without its logarithm).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real
from liegroup.compile import helper
from liegroup.compile.logarithm import log
from liegroup.formulas.vectors import cross, dot, subtract
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import Kind
from mechanics.errors import ModelError

Array = NDArray[np.float64]


@helper
def _mix3(a: Any, u: Any, b: Any, v: Any, c: Any, w: Any) -> Any:
    """a u + b v + c w."""
    return (
        a * u[0] + b * v[0] + c * w[0],
        a * u[1] + b * v[1] + c * w[1],
        a * u[2] + b * v[2] + c * w[2],
    )


@helper
def _mix2(a: Any, u: Any, b: Any, v: Any) -> Any:
    """a u + b v."""
    return a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2]


# --- tetrahedra: numbers B by rows (9), volume, λ, µ ------------------------------------------------------------------


@helper
def columns_of_tetrahedron(B: Any, x: Any) -> Any:
    """The columns of F."""
    a, b, c = subtract(x[1], x[0]), subtract(x[2], x[0]), subtract(x[3], x[0])
    return (
        _mix3(B[0], a, B[3], b, B[6], c),
        _mix3(B[1], a, B[4], b, B[7], c),
        _mix3(B[2], a, B[5], b, B[8], c),
    )


@helper
def _forces3(B: Any, volume: Any, p: Any) -> Any:
    """The gradients from the columns of P."""
    a = _mix3(volume * B[0], p[0], volume * B[1], p[1], volume * B[2], p[2])
    b = _mix3(volume * B[3], p[0], volume * B[4], p[1], volume * B[5], p[2])
    c = _mix3(volume * B[6], p[0], volume * B[7], p[1], volume * B[8], p[2])
    return (-(a[0] + b[0] + c[0]), -(a[1] + b[1] + c[1]), -(a[2] + b[2] + c[2])), a, b, c


@helper
def _cofactors(f: Any) -> Any:
    """The columns of cof F, and J."""
    a = cross(f[1], f[2])
    return (a, cross(f[2], f[0]), cross(f[0], f[1])), dot(f[0], a)


@helper
def volume_ratio(numbers: Any, x: Any) -> Any:
    """J = det F of a tetrahedron."""
    f = columns_of_tetrahedron(numbers, x)
    return dot(f[0], cross(f[1], f[2]))


@helper
def tetrahedron_st_venant(numbers: Any, x: Any) -> Any:
    """½ λ tr²E + µ E:E."""
    volume, first, second = numbers[9], numbers[10], numbers[11]
    f = columns_of_tetrahedron(numbers, x)
    xx, yy, zz = 0.5 * (dot(f[0], f[0]) - 1.0), 0.5 * (dot(f[1], f[1]) - 1.0), 0.5 * (dot(f[2], f[2]) - 1.0)
    xy, xz, yz = 0.5 * dot(f[0], f[1]), 0.5 * dot(f[0], f[2]), 0.5 * dot(f[1], f[2])
    trace, twice = xx + yy + zz, 2.0 * second
    pressure = first * trace
    p = (
        _mix3(pressure + twice * xx, f[0], twice * xy, f[1], twice * xz, f[2]),
        _mix3(twice * xy, f[0], pressure + twice * yy, f[1], twice * yz, f[2]),
        _mix3(twice * xz, f[0], twice * yz, f[1], pressure + twice * zz, f[2]),
    )
    squares = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)
    return volume * (0.5 * pressure * trace + second * squares), _forces3(numbers, volume, p)


@helper
def tetrahedron_neo_hookean(numbers: Any, x: Any) -> Any:
    """½ µ (trC − 3 − 2 ln J) + ½ λ ln²J."""
    volume, first, second = numbers[9], numbers[10], numbers[11]
    f = columns_of_tetrahedron(numbers, x)
    cofactor, J = _cofactors(f)
    logarithm = log(J)
    c = (first * logarithm - second) / J
    p = (
        _mix2(second, f[0], c, cofactor[0]), _mix2(second, f[1], c, cofactor[1]), _mix2(second, f[2], c, cofactor[2])
    )  # fmt: skip
    trace = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]) - 3.0
    V = 0.5 * second * (trace - 2.0 * logarithm) + 0.5 * first * logarithm * logarithm
    return volume * V, _forces3(numbers, volume, p)


@helper
def tetrahedron_stable(numbers: Any, x: Any) -> Any:
    """½ µ (trC − 3) − µ (J − 1) + ½ (λ + µ) (J − 1)²."""
    volume, first, second = numbers[9], numbers[10], numbers[11]
    f = columns_of_tetrahedron(numbers, x)
    cofactor, J = _cofactors(f)
    bulk = first + second
    c = bulk * (J - 1.0) - second
    p = (
        _mix2(second, f[0], c, cofactor[0]), _mix2(second, f[1], c, cofactor[1]), _mix2(second, f[2], c, cofactor[2])
    )  # fmt: skip
    trace = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]) - 3.0
    V = 0.5 * second * trace + (0.5 * bulk * (J - 1.0) - second) * (J - 1.0)
    return volume * V, _forces3(numbers, volume, p)


# --- triangles: numbers B by rows (4), area, λ and µ times the thickness ----------------------------------------------


@helper
def _columns_of_triangle(B: Any, x: Any) -> Any:
    a, b = subtract(x[1], x[0]), subtract(x[2], x[0])
    return _mix2(B[0], a, B[2], b), _mix2(B[1], a, B[3], b)


@helper
def _forces2(B: Any, area: Any, p: Any) -> Any:
    a = _mix2(area * B[0], p[0], area * B[1], p[1])
    b = _mix2(area * B[2], p[0], area * B[3], p[1])
    return (-(a[0] + b[0]), -(a[1] + b[1]), -(a[2] + b[2])), a, b


@helper
def triangle_st_venant(numbers: Any, x: Any) -> Any:
    """½ λ tr²E + µ E:E."""
    area, first, second = numbers[4], numbers[5], numbers[6]
    f = _columns_of_triangle(numbers, x)
    xx, yy, xy = 0.5 * (dot(f[0], f[0]) - 1.0), 0.5 * (dot(f[1], f[1]) - 1.0), 0.5 * dot(f[0], f[1])
    trace, twice = xx + yy, 2.0 * second
    pressure = first * trace
    p = (
        _mix2(pressure + twice * xx, f[0], twice * xy, f[1]), _mix2(twice * xy, f[0], pressure + twice * yy, f[1])
    )  # fmt: skip
    V = 0.5 * pressure * trace + second * (xx * xx + yy * yy + 2.0 * xy * xy)
    return area * V, _forces2(numbers, area, p)


@helper
def triangle_neo_hookean(numbers: Any, x: Any) -> Any:
    """½ µ (trC − 2 − 2 ln J) + ½ λ ln²J,  J² = det C."""
    area, first, second = numbers[4], numbers[5], numbers[6]
    f = _columns_of_triangle(numbers, x)
    xx, yy, xy = dot(f[0], f[0]), dot(f[1], f[1]), dot(f[0], f[1])
    determinant = xx * yy - xy * xy
    logarithm = 0.5 * log(determinant)
    c = (first * logarithm - second) / determinant
    p = _mix2(second + c * yy, f[0], -(c * xy), f[1]), _mix2(-(c * xy), f[0], second + c * xx, f[1])
    V = 0.5 * second * (xx + yy - 2.0 - 2.0 * logarithm) + 0.5 * first * logarithm * logarithm
    return area * V, _forces2(numbers, area, p)


_TRIANGLE = ("B11", "B12", "B21", "B22", "area", "lambda", "mu")
_TETRAHEDRON = (*(f"B{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)), "volume", "lambda", "mu")
TRIANGLE_ST_VENANT = Kind("triangle", 3, _TRIANGLE, triangle_st_venant)
TRIANGLE_NEO_HOOKEAN = Kind("triangle", 3, _TRIANGLE, triangle_neo_hookean)
TETRAHEDRON_ST_VENANT = Kind("tetrahedron", 4, _TETRAHEDRON, tetrahedron_st_venant)
TETRAHEDRON_NEO_HOOKEAN = Kind("tetrahedron", 4, _TETRAHEDRON, tetrahedron_neo_hookean)
TETRAHEDRON_STABLE = Kind("tetrahedron", 4, _TETRAHEDRON, tetrahedron_stable)
TETRAHEDRA = (TETRAHEDRON_ST_VENANT, TETRAHEDRON_NEO_HOOKEAN, TETRAHEDRON_STABLE)
_LEAST = 1e-12
"""Content of an element, in terms of its longest edge, that counts as none."""


@dataclass(frozen=True)
class Material:
    """An isotropic hyperelastic material.

    Parameters
    ----------
    young : float
        Young's modulus E, Pa.
    poisson : float
        Poisson's ratio ν (dimensionless), −1 < ν < ½.

    Raises
    ------
    ValueError
        E that is not positive, ν outside of its limits.

    Examples
    --------
    >>> from mechanics.elastic import NeoHookean
    >>> rubber = NeoHookean(1e6, 0.45)
    >>> [round(x) for x in rubber.lame]
    [3103448, 344828]
    """

    TETRAHEDRON: ClassVar[Kind]
    TRIANGLE: ClassVar[Kind | None]
    young: float
    poisson: float

    def __post_init__(self) -> None:
        real(self.young, "young", "a modulus in Pa, above 0", lambda x: 0.0 < x < math.inf)
        real(self.poisson, "poisson", "Poisson's ratio, between -1 and 1/2", lambda x: -1.0 < x < 0.5)

    @property
    def lame(self) -> tuple[float, float]:
        """Lamé's moduli λ and µ, Pa."""
        E, nu = float(self.young), float(self.poisson)
        return E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 * E / (1.0 + nu)


class StVenantKirchhoff(Material):
    """ψ = ½ λ tr²E + µ E:E: linear in the strain E; softens when pressed, and rests inside out as well.

    Examples
    --------
    >>> from mechanics.elastic import StVenantKirchhoff, Tetrahedra
    >>> Tetrahedra([[0, 1, 2, 3]], StVenantKirchhoff(1e6, 0.3))
    <1 elements: tetrahedron>
    """

    TETRAHEDRON, TRIANGLE = TETRAHEDRON_ST_VENANT, TRIANGLE_ST_VENANT


class NeoHookean(Material):
    """ψ = ½ µ (trC − d − 2 ln J) + ½ λ ln²J: no volume of zero.

    Examples
    --------
    >>> from mechanics.elastic import NeoHookean, Tetrahedra
    >>> Tetrahedra([[0, 1, 2, 3]], NeoHookean(1e6, 0.3))
    <1 elements: tetrahedron>
    """

    TETRAHEDRON, TRIANGLE = TETRAHEDRON_NEO_HOOKEAN, TRIANGLE_NEO_HOOKEAN


class StableNeoHookean(Material):
    """ψ = ½ µ (trC − 3) − µ (J − 1) + ½ (λ + µ)(J − 1)²: pushes elements back that have been turned inside out;
    tetrahedra only.

    Examples
    --------
    >>> from mechanics.elastic import StableNeoHookean, Tetrahedra
    >>> Tetrahedra([[0, 1, 2, 3]], StableNeoHookean(1e6, 0.3))
    <1 elements: tetrahedron>
    """

    TETRAHEDRON, TRIANGLE = TETRAHEDRON_STABLE, None


class Triangles(Elements):
    """A membrane of triangles of constant strain in space.

    Parameters
    ----------
    nodes : array (m, 3) of int
        The nodes of each; the places of the network are without strain.
    material : Material
        `StVenantKirchhoff` or `NeoHookean`.
    thickness : float or array (m,)
        m.

    Raises
    ------
    ModelError
        A triangle without area, a negative thickness: by the element.

    Examples
    --------
    >>> from mechanics.elastic import NeoHookean, Triangles
    >>> Triangles([[0, 1, 2], [2, 1, 3]], NeoHookean(1e6, 0.45), 1e-3)
    <2 elements: triangle>
    """

    def __init__(self, nodes: ArrayLike, material: Material, thickness: ArrayLike) -> None:
        of_kind(material, Material, "material", "StVenantKirchhoff(young, poisson) or NeoHookean(young, poisson)")
        if material.TRIANGLE is None:
            raise ModelError(
                "triangles: material", f"{type(material).__name__} is for tetrahedra", "take NeoHookean for membranes"
            )
        super().__init__(material.TRIANGLE, nodes)
        self.material, self.thickness = material, self.positive(thickness, "thickness")

    def content(self, points: Array) -> Array:
        x = points[self.nodes]
        return np.asarray(0.5 * np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1))

    def numbers_at(self, points: Array) -> Array:
        x, area = points[self.nodes], self.content(points)
        a, b = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
        _check_content(self, x, area, 2)
        length = np.linalg.norm(a, axis=1)
        along = np.sum(a * b, axis=1) / length
        across = 2.0 * area / length
        zero, (first, second) = 0.0 * length, self.material.lame
        first = 2.0 * first * second / (first + 2.0 * second)  # plane stress
        t = self.thickness[:, 0]
        B = [1.0 / length, -along / (length * across), zero, 1.0 / across]
        return np.stack([*B, area, t * first, t * second], axis=1)


class Tetrahedra(Elements):
    """A solid of tetrahedra of constant strain.

    Parameters
    ----------
    nodes : array (m, 4) of int
        The nodes of each, in either orientation; the places of the network are without strain.
    material : Material
        `StVenantKirchhoff`, `NeoHookean` or `StableNeoHookean`.

    Raises
    ------
    ModelError
        A tetrahedron without volume, by the element.

    Examples
    --------
    >>> from mechanics.elastic import NeoHookean, Tetrahedra
    >>> Tetrahedra([[0, 1, 2, 3]], NeoHookean(1e6, 0.45))
    <1 elements: tetrahedron>
    """

    def __init__(self, nodes: ArrayLike, material: Material) -> None:
        of_kind(material, Material, "material", "NeoHookean(young, poisson) or another Material")
        super().__init__(material.TETRAHEDRON, nodes)
        self.material = material

    def content(self, points: Array) -> Array:
        return np.asarray(np.abs(np.linalg.det(_edges(points[self.nodes]))) / 6.0)

    def numbers_at(self, points: Array) -> Array:
        x, volume = points[self.nodes], self.content(points)
        _check_content(self, x, volume, 3)
        first, second = (np.full(len(self), modulus) for modulus in self.material.lame)
        B = np.linalg.inv(_edges(x)).reshape(-1, 9)
        return np.concatenate([B, np.stack([volume, first, second], axis=1)], axis=1)


def _edges(x: Array) -> Array:
    """[X1 − X0, X2 − X0, X3 − X0] as columns, of tetrahedra (m, 4, 3)."""
    return np.swapaxes(x[:, 1:] - x[:, :1], 1, 2)


def _check_content(elements: Elements, x: Array, content: Array, dimension: int) -> None:
    longest = np.linalg.norm(x - np.roll(x, 1, axis=1), axis=2).max(axis=1)
    if len(flat := np.flatnonzero(~(content > _LEAST * longest**dimension))):
        what = "area" if dimension == 2 else "volume"
        elements.wrong(
            int(flat[0]), f"has no {what} ({content[flat[0]]:.3g})", "take it out of the mesh, or move a node"
        )
