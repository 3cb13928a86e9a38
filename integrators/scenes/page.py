"""Films as one page of HTML that needs nothing else: no network, no server, no package."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from integrators.scenes.film import Film
from integrators.scenes.shapes import Shape, Surface
from integrators.scenes.stage import stage

WEB = Path(__file__).with_name("web")
"""The page's own parts: frame, style, player, and three.js (see THIRD_PARTY_LICENSES.txt)."""


def page(films: Sequence[Film], title: str = "") -> str:
    """The page of films side by side."""
    pool, first = _Pool(), films[0]
    together = title or (first.title if len(films) == 1 else " · ".join(dict.fromkeys(f.title for f in films)))
    at = stage(films)
    content = {
        "title": together,
        "subtitle": first.subtitle if len(films) == 1 else "",
        "notes": [
            *dict.fromkeys(note for film in films for note in film.notes),
            f"Squares of the grid: {at.cell:g} m.",
        ],
        "stage": {
            "low": at.low.tolist(),
            "high": at.high.tolist(),
            "middle": at.middle.tolist(),
            "size": at.size,
            "direction": at.direction.tolist(),
            "up": at.up.tolist(),
            "normal": at.normal.tolist(),
            "height": at.height,
            "cell": at.cell,
            "body": at.body,
            "travels": bool(at.travels),
            "axes": False,
        },
        "films": [_film(film, pool) for film in films],
        "arrays": pool.arrays,
    }
    parts = {
        "TITLE": html.escape(together),
        "STYLE": _part("page.css"),
        "FILMS": json.dumps(content, separators=(",", ":"), allow_nan=False).replace("</", "<\\/"),
        "THREE": _part("three.module.min.js"),
        "ORBIT": _part("OrbitControls.js"),
        "PLAYER": _part("player.js"),
    }
    text = _part("page.html")
    for name, part in parts.items():
        before, after = text.split(f"@{name}@", 1)
        text = f"{before}{part}{after}"
    return text


@cache
def _part(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


class _Pool:
    """Arrays by number, each once however often it is used: the same robot beside itself."""

    def __init__(self) -> None:
        self.arrays: list[dict[str, str]] = []
        self._known: dict[tuple[str, bytes], int] = {}

    def add(self, values: Any, kind: str = "f4") -> int:
        data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
        number = self._known.setdefault((kind, data), len(self.arrays))
        if number == len(self.arrays):
            self.arrays.append({"type": kind, "data": base64.b64encode(data).decode("ascii")})
        return number


def _film(film: Film, pool: _Pool) -> dict[str, Any]:
    scene = film.scene
    return {
        "title": film.title,
        "subtitle": film.subtitle,
        "warning": film.warning,
        "t": pool.add(film.t, "f8"),
        "poses": pool.add(np.concatenate([film.positions, film.quaternions_wxyz], axis=-1)),
        "bodies": [
            {"name": b.name, "colour": b.colour, "shapes": [_shape(s, pool) for s in b.shapes]} for b in scene.bodies
        ],
        "still": [_shape(s, pool) for s in scene.still],
        "ties": [
            {
                "first": scene.number(tie.first),
                "second": scene.number(tie.second),
                "at": np.asarray(tie.at, dtype=float).tolist(),
                "on": np.asarray(tie.on, dtype=float).tolist(),
            }
            for tie in scene.ties
        ],
        "trails": [{"body": scene.number(x.body), "name": x.name, "contact": x.contact} for x in scene.trails],
        "paths": pool.add(film.trails),
        "curves": [
            {"name": c.name, "units": c.units, "first": c.first}
            | {key: pool.add(getattr(c, key)) for key in ("change", "least", "greatest")}
            for c in film.curves
        ],
    }


def _shape(shape: Shape, pool: _Pool) -> dict[str, Any]:
    if isinstance(shape, Surface):
        return {
            "vertices": pool.add(shape.vertices),
            "faces": pool.add(shape.faces, "u4"),
            "colour": shape.colour,
            "opacity": shape.opacity,
        }
    return {"vertices": pool.add(shape.points), "colour": shape.colour}
