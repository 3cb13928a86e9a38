"""The program that makes the machine code of kernels for other systems as well: how many of each format, as JSON."""

from __future__ import annotations

import json
from collections import Counter

import llvmlite.binding as llvm

from integrators import integrate
from liegroup.compile import libraries
from mechanics.systems import SYSTEMS

TRIPLES = {
    "windows": ("x86_64-pc-windows-msvc", "x86-64-v3"),
    "macos": ("x86_64-apple-macosx13.0.0", "x86-64-v3"),
    "macos-arm": ("arm64-apple-macosx13.0.0", "apple-m1"),
}
"""System → LLVM's name of it, and a processor."""
KINDS = {b"d\x86": "COFF", b"\xcf\xfa\xed\xfe": "Mach-O"}
"""First bytes of an object → its format."""


def machines() -> dict[str, llvm.TargetMachine]:
    """Those that this LLVM can make code for."""
    found = {}
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for system, (triple, processor) in TRIPLES.items():
        try:
            target = llvm.Target.from_triple(triple)
        except RuntimeError:
            continue
        found[system] = target.create_target_machine(processor, opt=2, reloc="pic", codemodel="jitdefault", jit=True)
    return found


def main() -> None:
    """A run whose kernels are compiled for all of them."""
    made, usual, others = Counter[str](), libraries.KernelLibrary._finalize_final_module, machines()

    def with_others(library: libraries.KernelLibrary) -> None:
        for system, machine in others.items():
            module = library._final_module.clone()
            module.triple, module.data_layout = TRIPLES[system][0], str(machine.target_data)
            code = machine.emit_object(module)
            made[f"{system} {next(kind for first, kind in KINDS.items() if code.startswith(first))}"] += 1
        made["here"] += 1
        usual(library)

    libraries.KernelLibrary._finalize_final_module = with_others
    done = integrate(SYSTEMS["heavy-top"], "MIDPOINT", (0.0, 0.1), step=1e-2, progress=False)
    print(json.dumps({"success": bool(done.success), "systems": sorted(others), "made": made}))


if __name__ == "__main__":
    main()
