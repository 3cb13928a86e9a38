"""Straight lines of operations as source text: one printer per language.

A new language is a file with a function ``(functions, title) → text`` and a line in `LANGUAGES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from liegroup.modules import listing
from liegroup.printers.c import c_source
from liegroup.printers.cuda import cuda_source
from liegroup.printers.function import Function
from liegroup.printers.python import casadi_source, jax_source, numpy_source
from liegroup.printers.source import SourceText

__all__ = ["LANGUAGES", "Function", "SourceText", "printed"]
__dir__ = listing(__all__)

LANGUAGES: dict[str, Callable[[Sequence[Function], str], str]] = {
    "c": c_source,
    "cuda": cuda_source,
    "numpy": numpy_source,
    "jax": jax_source,
    "casadi": casadi_source,
}
"""What writes a file, by language."""

_NO_WORDS = '*"\\'
"""Characters that end comments and strings."""


def printed(language: str, functions: Sequence[Function], title: str = "Generated code.") -> SourceText:
    """Functions as a file of a language.

    Parameters
    ----------
    language : {"c", "cuda", "numpy", "jax", "casadi"}
        A key of `LANGUAGES`.
    functions : sequence of Function
        What the file defines.
    title : str
        Its first words, in one line; what would end the comment or the string that they stand in is left out of them.

    Returns
    -------
    SourceText
        The text; ``load()`` gives its functions.

    Raises
    ------
    ValueError
        Another language.

    Examples
    --------
    See `SourceText`.
    """
    if not isinstance(language, str) or language not in LANGUAGES:
        raise ValueError(f"language: {language!r}, expected one of {', '.join(map(repr, LANGUAGES))}")
    words = " ".join(title.translate(dict.fromkeys(map(ord, _NO_WORDS))).split())
    text = SourceText(LANGUAGES[language](functions, words))
    text.language, text.functions = language, tuple(functions)
    return text
