"""Lie groups of mechanics: SO(2), SO(3), SE(2), SE(3), Rⁿ and their products, three maps with all their tangents.

>>> from liegroup import so3
>>> so3.exp([0.0, 0.0, 0.0]).tolist()
[1.0, 0.0, 0.0, 0.0]

Conventions: quaternions (w, x, y, z); SE(3) as (x, y, z, qw, qx, qy, qz); algebra elements linear part first; radians.
"""

from liegroup.modules import listing, renamed, uncollected

with uncollected():
    from liegroup.group import Group, product, rn, se2, se3, so2, so3
    from liegroup.group_maps import GroupMap

renamed({f"liegroup.{name}": f"liegroup.compile.{name}" for name in ("scalars", "tracing")})

__all__ = ["Group", "GroupMap", "product", "rn", "se2", "se3", "so2", "so3"]
__dir__ = listing(__all__)
