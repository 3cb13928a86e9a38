"""C99 without dependencies, in the arithmetic of the kernels: the same numbers to the last bit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from liegroup.compile.scalars import REDUCTION_LIMIT
from liegroup.compile.tracing import INPUT, Printer, lines
from liegroup.printers.function import Function, elementary, table_of

PART = 1000
"""Operations of a part: longer functions are cut, which compilers take linear time for."""
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}

# GCC's vectoriser of straight lines makes vfmaddsub of a product less and plus a number, whatever fp-contract says
_HEAD = """/* {title}
   Written by liemech. Every function is a straight line of operations in the order in which they stand: compiled
   without fused multiply-add and without -ffast-math it gives the numbers of the Python package to the last bit. */
#include <math.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize ("fp-contract=off", "no-tree-slp-vectorize")
#elif defined(_MSC_VER)
#pragma fp_contract (off)
#endif
"""
_SINCOS = """
{own}void lm_sincos(double x, double *s, double *c)
{{
    if (fabs(x) > {limit!r}) {{
        *s = sin(x);
        *c = cos(x);
    }} else
        lm_sincos_reduced(x, s, c);
}}
"""


_RUN = """
/* `steps` steps from y, which becomes the state at their end; returns how many were valid, to finite numbers. */
long many_steps(double t, double h, long steps, double *y{given})
{{
    double end[{n}], left;
    for (long k = 0; k < steps; k++) {{
        {name}(t + k * h, h, y{u}, end, &left);
        for (int i = 0; i < {n}; i++)
            if (left != 0.0 || !(end[i] - end[i] == 0.0))
                return k;
        for (int i = 0; i < {n}; i++)
            y[i] = end[i];
    }}
    return steps;
}}
"""


class CPrinter(Printer):
    """Numbers are doubles, conditions too: 1 and 0."""

    prefix, own, shared = "lm_", "static ", ""

    def number(self, value: float) -> str:
        if value != value:
            return "NAN"
        return repr(value) if abs(value) < float("inf") else "INFINITY" if value > 0 else "-INFINITY"

    def read(self, source: tuple[str, int | None]) -> str:
        name, k = source
        return name if k is None else f"{name}[{k}]"

    def assignment(self, k: int, expression: str) -> str:
        return f"const double x{k} = {expression};"

    def turn(self, k: int, x: str) -> str:
        return f"double s{k}, c{k}; {self.prefix}sincos({x}, &s{k}, &c{k});"

    def turned(self, name: str, k: int) -> str:
        return f"{name[0]}{k}"

    def operation(self, name: str, *x: str) -> str:
        if name in _SIGNS:
            return f"{x[0]} {_SIGNS[name]} {x[1]}"
        if name == "negate":
            return f"-{x[0]}"
        if name == "less":
            return f"{x[0]} < {x[1]}"
        if name == "taken":
            return f"{self.prefix}table[(int)({x[0]})]"
        if name == "select":
            return f"{x[0]} != 0.0 ? {x[1]} : {x[2]}"
        return f"{'' if name in ('sqrt', 'exp', 'log', 'tanh') else self.prefix}{name}({', '.join(x)})"

    # --- functions ----------------------------------------------------------------------------------------------------

    def function(self, f: Function) -> str:
        """Definition of a function, and what calls it many times."""
        return self.definition(f) + self.driver(f)

    def definition(self, f: Function) -> str:
        """Definition of a function, cut into parts where it is long."""
        order = [k for k in f.graph.needed(f.wanted) if f.graph.arguments(k)]
        if len(order) > PART:
            before, body = self._cut(f, order)
        else:
            before, body = "", [*lines(f.graph, f.wanted, set(), self), *self._stores(f, {})]
        sizes = [f"{x}[{n}]" for x, n in f.inputs.items() if n] + [f"{x}[{len(k)}]" for x, k in f.outputs.items()]
        about = f"\n/* {f.about} {', '.join(sizes)}; {f.operations} operations */\n"
        arguments = ", ".join([*_given(f), *(f"double *{x}" for x in f.outputs)])
        return before + about + _body(f"{self.shared}void {f.name}({arguments})", [*_unused(f.inputs, body), *body])

    def driver(self, f: Function) -> str:
        """What calls a function many times."""
        if not f.advances:
            return ""
        held = "u" in f.inputs
        return _RUN.format(
            name=f.name, n=f.inputs["y"], given=", const double *u" if held else "", u=", u" if held else ""
        )

    def formula(self, f: Function) -> str:
        """Definition of a function of a number for those below, which returns its value."""
        if len(f.wanted) == 1:
            body = [*lines(f.graph, f.wanted, set(), self), f"return {self.operand(f.graph, f.wanted[0])};"]
            return "\n" + _body(f"{self.own}double {self.prefix}{f.name}({', '.join(_given(f))})", body)
        arguments = ", ".join([*_given(f), *(f"double *{x}" for x in f.outputs)])
        body = [*lines(f.graph, f.wanted, set(), self), *(f"*{x} = x{k};" for x, (k,) in f.outputs.items())]
        return "\n" + _body(f"{self.own}void {self.prefix}{f.name}({arguments})", body)

    def formulas(self, functions: Sequence[Function]) -> str:
        """Definitions of those that the functions need."""
        text, table = "", table_of(functions)
        if table:
            numbers = ", ".join(map(self.number, table))
            text = f"\n{self.own}const double {self.prefix}table[{len(table)}] = {{{numbers}}};\n"
        for f in elementary(set[str]().union(*(f.names for f in functions))):
            text += self.formula(f)
            if f.name == "sincos_reduced":
                text += _SINCOS.format(own=self.own, limit=REDUCTION_LIMIT)
        return text

    def _stores(self, f: Function, place: Mapping[int, int]) -> list[str]:
        def value(k: int) -> str:
            if k in place:
                return f"w[{place[k]}]"
            is_input = place and f.graph.nodes[k][0] == INPUT
            return self.read(f.graph.nodes[k][1]) if is_input else self.operand(f.graph, k)

        return [f"{x}[{i}] = {value(k)};" for x, nodes in f.outputs.items() for i, k in enumerate(nodes)]

    def _cut(self, f: Function, order: Sequence[int]) -> tuple[str, list[str]]:
        """Parts of a long function, and the body that calls them; an array keeps what later parts need."""
        graph, parts = f.graph, [order[i : i + PART] for i in range(0, len(order), PART)]
        where = {k: p for p, part in enumerate(parts) for k in part}
        needs = [
            sorted({a for k in part for a in graph.arguments(k) if where.get(a, p) != p})
            for p, part in enumerate(parts)
        ]
        place = {k: i for i, k in enumerate(sorted({k for some in needs for k in some} | (set(f.wanted) & set(where))))}
        text, arguments = "", ", ".join([*_given(f), "double *w"])
        for p, part in enumerate(parts):
            kept = [k for k in part if k in place]
            body = [f"const double x{k} = w[{place[k]}];" for k in needs[p]]
            body += lines(graph, part, set(needs[p]), self)
            body += [f"w[{place[k]}] = x{k};" for k in kept]
            head = f"{self.own}void {self.prefix}{f.name}_{p}({arguments})"
            text += "\n" + _body(head, [*_unused([*f.inputs, "w"], body), *body])
        call = ", ".join([*f.inputs, "w"])
        calls = [f"{self.prefix}{f.name}_{p}({call});" for p in range(len(parts))]
        return text, [f"double w[{len(place)}];", *calls, *self._stores(f, place)]


def _given(f: Function) -> list[str]:
    """The inputs as arguments."""
    return [f"const double *{x}" if size else f"double {x}" for x, size in f.inputs.items()]


def _unused(names: Iterable[str], body: Sequence[str]) -> list[str]:
    """What tells the compiler that arguments are not used on purpose."""
    used = set(re.findall(r"\w+", " ".join(body)))
    return [f"(void){name};" for name in names if name not in used]


def _body(head: str, lines: Sequence[str]) -> str:
    return f"{head}\n{{\n{''.join(f'    {line}' + chr(10) for line in lines)}}}\n"


def c_source(functions: Sequence[Function], title: str) -> str:
    """A file of C99."""
    printer = CPrinter()
    return _HEAD.format(title=title) + printer.formulas(functions) + "".join(map(printer.function, functions))
