"""CUDA: the C functions for the device, and kernels that call them for many states, one trajectory a thread."""

from __future__ import annotations

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
/* `steps` steps of each from number `first` on, step k at t + k h; `taken` grows by how many were valid. */
extern "C" __global__ void many_steps_each(
    long long count, double t, double h, long long first, long long steps, double *all_y, long long *taken)
{{
    const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
    double y[{n}], end[{n}], left;
    for (int i = 0; i < {n}; i++)
        y[i] = all_y[i * count + k];
    long long done = 0;
    for (; done < steps; done++) {{
{advance}        if (left != 0.0)
            break;
{settle}    }}
    for (int i = 0; i < {n}; i++)
        all_y[i * count + k] = y[i];
    taken[k] += done;
}}
"""
_ADVANCE = "{name}(t + (first + done) * h, h, y, end, &left);"
_SETTLE = """        for (int i = 0; i < {n}; i++)
            y[i] = end[i];
"""
_IS_DUE = "(first + done) % {every} == 0"


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
        n = f.inputs["y"]
        advance, settle = f"        {_ADVANCE.format(name=f.name)}\n", _SETTLE.format(n=n)
        if f.due is not None:
            is_due, name = _IS_DUE.format(every=f.due[0]), f.due[1].name
            if f.due[1].advances:
                advance = (
                    f"        if ({is_due})\n            {_ADVANCE.format(name=name)}\n        else\n    {advance}"
                )
            else:
                settle = f"        if ({is_due})\n            {name}(end, y);\n        else\n{_indented(settle)}"
        return _MANY.format(n=n, advance=advance, settle=settle)


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def cuda_source(functions: Sequence[Function], title: str) -> str:
    """A file of CUDA C++."""
    printer, due = CudaPrinter(), [f.due[1] for f in functions if f.due is not None]
    text = _HEAD.format(title=title) + printer.formulas([*due, *functions]) + "".join(map(printer.definition, due))
    return text + "".join(map(printer.function, functions))
