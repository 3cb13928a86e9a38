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
    const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
{body}}}
"""
_MANY = """
/* `steps` steps of each from number `first` on, step k at t + k h; `taken` grows by how many were valid. */
extern "C" __global__ void many_steps_each(
    long count, double t, double h, long first, long steps, double *all_y, long *taken)
{{
    const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
    double y[{n}], end[{n}], left;
    for (int i = 0; i < {n}; i++)
        y[i] = all_y[i * count + k];
    long done = 0;
    for (; done < steps; done++) {{
        {name}(t + (first + done) * h, h, y, end, &left);
        if (left != 0.0)
            break;
        for (int i = 0; i < {n}; i++)
            y[i] = end[i];
    }}
    for (int i = 0; i < {n}; i++)
        all_y[i * count + k] = y[i];
    taken[k] += done;
}}
"""


class CudaPrinter(CPrinter):
    own, shared = "static __device__ ", "__device__ "

    def number(self, value: float) -> str:
        found = super().number(value)
        return found.replace("NAN", "(0.0 / 0.0)").replace("INFINITY", "(1.0 / 0.0)")

    def driver(self, f: Function) -> str:
        if f.advances:
            return _MANY.format(name=f.name, n=f.inputs["y"])
        arguments = ["long count", *(f"const double *all_{x}" if n else f"double {x}" for x, n in f.inputs.items())]
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


def cuda_source(functions: Sequence[Function], title: str) -> str:
    """A file of CUDA C++."""
    printer = CudaPrinter()
    return _HEAD.format(title=title) + printer.formulas(functions) + "".join(map(printer.function, functions))
