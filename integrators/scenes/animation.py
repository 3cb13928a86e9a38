"""Motions to look at: one page of HTML, a video, or a file for Blender, by the ending of a path."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from integrators.scenes.film import FRAMES, Film
from integrators.scenes.gltf import glb
from integrators.scenes.page import page
from integrators.scenes.picture import video
from liegroup.arrays import path_of, shown

MOST = 12
"""Films beside one another."""
ENDINGS = (".html", ".mp4", ".gif", ".glb")


@dataclass(frozen=True, eq=False)
class Page:
    """A page of HTML, which notebooks show."""

    text: str
    height: int = 520

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file."""
        return _written(path_of(path, "path"), lambda part: part.write_text(self.text, encoding="utf-8"))

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.text)}" width="100%" height="{self.height}" '
            'style="border:0" allow="fullscreen"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Page of {len(self.text) / 1e6:.1f} MB: save(path) writes it, a notebook shows it>"


def animate(
    solutions: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    names: Sequence[str] = (),
    scene: Any = None,
    frames: int = FRAMES,
    span: Sequence[float] | None = None,
    title: str = "",
) -> Any:
    """Motions side by side, with their watched numbers.

    Parameters
    ----------
    solutions : Solution, Film, or sequence of them
        What has a method ``film``; of an ensemble take ``solution.trajectory(k)``.
    path : path, optional
        ``.html`` one page that needs nothing else (turn, play, scrub, several solutions side by side); ``.mp4`` (with
        ffmpeg) and ``.gif`` a video; ``.glb`` for Blender and other programs, one solution.  Default: no file.
    names : sequence of str, optional
        One for each solution; default the methods.
    scene : Scene or callable, optional
        In the place of that of the problem, see `integrators.scenes`.
    frames : int
        At most so many of the saved states are shown.
    span : (first, last), optional
        Only saved states between these times.
    title : str, optional
        Of the whole; default the titles of the films.

    Returns
    -------
    Path or Page
        The file; without a path the page, which notebooks show.

    Raises
    ------
    ValueError
        An unknown ending, nothing to show, other names than solutions, several solutions in a .glb; a problem without a
        scene.
    OSError
        The file cannot be written: with what stands in the way.
    """
    given = list(solutions) if isinstance(solutions, (list, tuple)) else [solutions]
    target = None if path is None else _target(path)
    if not 1 <= len(given) <= MOST:
        raise ValueError(f"solutions: {len(given)}, expected 1 to {MOST} to be shown side by side")
    films = [film_of(one, frames, scene, span) for one in given]
    if names and len(names) != len(films):
        raise ValueError(f"names: {len(names)} names for {len(films)} solutions; give one for each")
    together = title or " · ".join(dict.fromkeys(film.title for film in films))
    if len(films) > 1 or names:
        films = [film.named(name) for film, name in zip(films, names or _distinct(films), strict=True)]
    if target is None:
        return Page(page(films, together))
    makers: dict[str, Callable[[Path], Any]] = {
        ".html": lambda part: part.write_text(page(films, together), encoding="utf-8"),
        ".mp4": lambda part: video(films, part, title),
        ".gif": lambda part: video(films, part, title),
        ".glb": lambda part: part.write_bytes(glb(films[0].named(title or films[0].title))),
    }
    if target.suffix.lower() == ".glb" and len(films) > 1:
        raise ValueError(f"solutions: {len(films)}, expected one for a .glb file; write one file for each")
    return _written(target, makers[target.suffix.lower()])


def film_of(solution: Any, frames: int = FRAMES, scene: Any = None, span: Sequence[float] | None = None) -> Film:
    """The film of a solution, or a film as it is; TypeError for what has none."""
    if isinstance(solution, Film):
        return solution
    make = getattr(solution, "film", None)
    if not callable(make):
        raise TypeError(f"solutions: {shown(solution)}, expected a Solution (of integrate), a Film, or a list of them")
    found: Film = make(frames=frames, scene=scene, span=span)
    return found


def _distinct(films: Sequence[Film]) -> list[str]:
    """Titles that tell films apart: the methods where all are of one system."""
    if len({film.title for film in films}) == len(films):
        return [film.title for film in films]
    subtitles = [film.subtitle.rpartition(", ")[0] for film in films]  # without the number of steps
    return (
        subtitles if len(set(subtitles)) == len(films) else [f"{k + 1}: {film.title}" for k, film in enumerate(films)]
    )


def _target(path: str | os.PathLike[str]) -> Path:
    target = path_of(path, "path")
    if target.suffix.lower() not in ENDINGS:
        raise ValueError(f"path: {str(path)!r}, expected a name that ends in {', '.join(ENDINGS)}")
    return target


def _written(target: Path, make: Callable[[Path], Any]) -> Path:
    """The file, whole or not at all: made beside its place and then put there."""
    part = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: {str(target)!r}: there is no folder {str(target.parent)!r}; make it first")
    if target.is_dir():
        raise IsADirectoryError(f"path: {str(target)!r} is a folder; give the name of a file in it")
    try:
        part.touch()
    except OSError as error:
        says = f"path: {str(target)!r} cannot be written ({error.strerror}); give a file in a folder of your own"
        raise type(error)(says) from None
    try:
        make(part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target
