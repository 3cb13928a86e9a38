"""What notebooks show of an object: a title, facts, tables and drawings, as HTML that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_FILTER = (
    '<input type="search" placeholder="filter: words, all of which a row must have" style="width:24em;margin:0.3em 0" '
    'aria-label="filter" oninput="const w=this.value.toLowerCase().split(/\\s+/);'
    "for(const r of this.parentNode.querySelectorAll('tbody tr'))"
    'r.hidden=!w.every(x=>r.textContent.toLowerCase().includes(x))">'
)


def card(title: str, facts: Iterable[tuple[str, object]], *parts: str) -> str:
    """An object as HTML.

    Parameters
    ----------
    title : str
    facts : iterable of (name, value)
        Left out where the value is an empty text.
    *parts : str
        What stands below, HTML already.

    Returns
    -------
    str
        A ``<div>``; texts are escaped.

    Examples
    --------
    >>> from liegroup.display import card
    >>> "a &amp; b" in card("top", [("named", "a & b")])
    True
    """
    rows = "".join(
        f'<tr><td style="text-align:left;opacity:0.7">{escape(name)}</td>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in facts
        if str(value)
    )
    listed = f"<table>{rows}</table>" if rows else ""
    return f'<div class="liemech"><b>{escape(title)}</b>{listed}{"".join(parts)}</div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], summary: str = "", filtered: bool = False) -> str:
    """A table as HTML.

    Parameters
    ----------
    heads : sequence of str
    rows : iterable of sequences
        Their cells become texts, and are escaped.
    summary : str
        The line under which the table is folded; default: it is not.
    filtered : bool
        Whether a field above it takes words that rows must have to stay.

    Returns
    -------
    str

    Examples
    --------
    >>> from liegroup.display import table
    >>> table(("a", "b"), [(1, 2)]).count("<td")
    2
    """
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in heads)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(str(cell))}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    made = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    if filtered:
        made = f'<div>{_FILTER}<div style="max-height:30em;overflow:auto">{made}</div></div>'
    return f"<details><summary>{escape(summary)}</summary>{made}</details>" if summary else made
