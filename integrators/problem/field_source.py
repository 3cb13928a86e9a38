"""Source of fields that programs write: straight lines, and what comes after them."""

from __future__ import annotations

from collections.abc import Sequence

from liegroup.compile.tracing import Graph, lines, operand, straight

ARGUMENTS = "t, y, parameters, structure, work, out"
"""Of a field."""


def stores(graph: Graph, nodes: Sequence[int]) -> list[str]:
    """Lines that compute nodes and write them into ``out``, one after the other."""
    return [*lines(graph, nodes, set()), *(f"st(out, {i}, {operand(graph, k)})" for i, k in enumerate(nodes))]


def field_source(name: str, body: Sequence[str], then: Sequence[str] = ()) -> str:
    """An entry in a field's signature whose values a straight line gives; after it further lines, of any kind."""
    call = f"{name}_line({ARGUMENTS})"
    text = "".join(f"    {line}\n" for line in (call, *then))
    return (
        straight(f"{name}_line", ARGUMENTS, body) + f"\n@entry(*FIELD_SIGNATURES)\ndef {name}({ARGUMENTS}):\n{text}\n"
    )
