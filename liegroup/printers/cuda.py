"""CUDA: the C functions for the device, and kernels that call them for many states, one trajectory a thread."""

from __future__ import annotations

import math
from collections.abc import Sequence

from liegroup.printers.c import CPrinter
from liegroup.printers.function import Function

_HEAD = """/* {title}
   Written by liemech. Every function is a straight line of operations in the order in which they stand: compiled with
   --fmad=false it gives the numbers of the Python package to the last bit, but for exp, log and tanh, which are CUDA's.
   Kernels take `count` states, one a thread: component i of state k at [i * count + k]. */
#ifndef __CUDACC_RTC__
#include <math.h>
#endif
"""
_EACH = """
extern "C" __global__ void {name}_each({arguments})
{{
    const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
{body}}}
"""
_MANY = """
/* Steps of each up to number `until`, step i at t + i h, from number taken[k] on, which becomes `until`, or the number
   of the first that was not valid. */
extern "C" __global__ void many_steps_each(
    long long count, double t, double h, long long until, double *all_y, long long *taken{given})
{{
    const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count || taken[k] >= until)
        return;
    double y[{size}], end[{size}], left;
    for (int i = 0; i < {size}; i++)
        y[i] = all_y[i * count + k];
{held}    long long done = taken[k];
    for (; done < until; done++) {{
{before}{advance}        if (left != 0.0)
            break;
{settle}    }}
    for (int i = 0; i < {size}; i++)
        all_y[i * count + k] = y[i];
    taken[k] = done;
}}
"""
_HELD = """    double u[{m}];
    for (int i = 0; i < {m}; i++)
        u[i] = all_u[i * count + k];
"""
_ADVANCE = "{name}(t + done * h, h, y{u}, end, &left);"
_SETTLE = """        for (int i = 0; i < {n}; i++)
            y[i] = end[i];
"""
_BEFORE = """        if ({far}) {{
            {name}(y, end);
            for (int i = 0; i < {size}; i++)
                y[i] = end[i];
        }}
"""
_IS_DUE = "done % {every} == 0"


class CudaPrinter(CPrinter):
    own, shared = "static __device__ ", "__device__ "

    def number(self, value: float) -> str:
        found = super().number(value)
        return found.replace("NAN", "(0.0 / 0.0)").replace("INFINITY", "(1.0 / 0.0)")

    def driver(self, f: Function) -> str:
        if f.advances:
            return self._many(f)
        arguments = [
            "long long count",
            *(f"const double *all_{x}" if n else f"double {x}" for x, n in f.inputs.items()),
        ]
        arguments += [f"double *all_{x}" for x in f.outputs]
        sizes = {**{x: n for x, n in f.inputs.items() if n}, **{x: len(nodes) for x, nodes in f.outputs.items()}}
        body = [f"double {x}[{n}];" for x, n in sizes.items()]
        for x, n in f.inputs.items():
            body += [f"for (int i = 0; i < {n}; i++)", f"    {x}[i] = all_{x}[i * count + k];"] if n else []
        body += [f"{f.name}({', '.join([*f.inputs, *f.outputs])});"]
        for x, nodes in f.outputs.items():
            body += [f"for (int i = 0; i < {len(nodes)}; i++)", f"    all_{x}[i * count + k] = {x}[i];"]
        rows = "".join(f"    {line}\n" for line in body)
        return _EACH.format(name=f.name, arguments=", ".join(arguments), body=rows)

    def _many(self, f: Function) -> str:
        """The kernel of a run."""
        n = size = f.inputs["y"]
        before, m = "", f.inputs.get("u", 0)
        u, given, held = (", u", ", const double *all_u", _HELD.format(m=m)) if m else ("", "", "")
        if f.before is not None:
            wind, angles = f.before
            size, far = wind.inputs["y"], " || ".join(f"fabs(y[{k}]) > {math.pi!r}" for k in angles)
            before = _BEFORE.format(far=far, name=wind.name, size=size)
        advance, settle = f"        {_ADVANCE.format(name=f.name, u=u)}\n", _SETTLE.format(n=n)
        if f.due is not None:
            is_due, name = _IS_DUE.format(every=f.due[0]), f.due[1].name
            if f.due[1].advances:
                advance = (
                    f"        if ({is_due})\n            {_ADVANCE.format(name=name, u=u)}\n        else\n    {advance}"
                )
            else:
                settle = f"        if ({is_due})\n            {name}(end, y);\n        else\n{_indented(settle)}"
        return _MANY.format(size=size, given=given, held=held, before=before, advance=advance, settle=settle)


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def cuda_source(functions: Sequence[Function], title: str) -> str:
    """A file of CUDA C++."""
    printer, others = CudaPrinter(), [f.due[1] for f in functions if f.due is not None]
    others += [f.before[0] for f in functions if f.before is not None]
    text = _HEAD.format(title=title) + printer.formulas([*others, *functions])
    return text + "".join(map(printer.definition, others)) + "".join(map(printer.function, functions))
