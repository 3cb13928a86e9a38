"""Compiled functions as arguments of other compiled functions: an address, called as the compiler calls its own.

The compiler's own type of such arguments holds three addresses and calls one of them, or the interpreter, as it finds
them: more code than many a kernel has, at each call.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import NumbaError
from numba.core.imputils import lower_cast
from numba.core.registry import cpu_target
from numba.core.typeconv import Conversion
from numba.core.typing.templates import signature
from numba.extending import NativeValue, intrinsic, register_model, unbox

from liegroup.compile.calls import called


class Address(types.Callable):
    """The type of a compiled function with one signature, given by its address."""

    def __init__(self, called: Any) -> None:
        self.signature = called
        super().__init__(f"Address({hashlib.sha256(str(called).encode()).hexdigest()[:12]})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature, if the arguments fit."""
        wanted = self.signature.args
        if kws or len(args) != len(wanted):
            raise TypeError(f"a function called by its address takes {len(wanted)} arguments, by position")
        for given, type_ in zip(args, wanted, strict=True):
            if context.can_convert(types.unliteral(given), type_) is None:
                raise TypeError(f"a function called by its address: argument of type {given}, expected {type_}")
        return signature(self.signature.return_type, *wanted, recvr=self)

    def get_call_signatures(self) -> Any:
        """All signatures: one."""
        return [self.signature], False

    def get_impl_key(self, sig: Any) -> Any:
        """What the compiler knows the call by."""
        if self.name not in _KNOWN:
            _KNOWN[self.name] = _call
            cpu_target.target_context.insert_func_defn([(_call, self.name, (self, *self.signature.args))])
        return self.name

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """A dispatcher is taken for its function of this signature."""
        if not isinstance(other, types.Dispatcher):
            return None
        try:
            other.dispatcher.get_compile_result(self.signature)
        except NumbaError:
            return None
        return Conversion.safe


register_model(Address)(models.OpaqueModel)
_KNOWN: dict[str, Any] = {}


def _call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    convention, result = context.call_conv, sig.return_type
    pointer = convention.get_function_type(result, sig.args[1:]).as_pointer()
    function = builder.bitcast(args[0], pointer)
    return called(context, builder, function, result, sig.args[1:], args[1:])


@lower_cast(types.Dispatcher, Address)
def _of_dispatcher(context: Any, builder: Any, from_: Any, to: Any, value: Any) -> Any:
    compiled = from_.dispatcher.get_compile_result(to.signature)
    function = context.declare_function(builder.module, compiled.fndesc)
    context.active_code_library.add_linking_library(compiled.library)
    return builder.bitcast(function, cgutils.voidptr_t)


class Pointer:
    """A compiled function as an argument that costs little to pass, for loops in Python around compiled steps.

    Passing the dispatcher itself, its code is looked up at every call.  `type_`: as made by
    `liegroup.compile.function`, which of the dispatcher's signatures is meant.
    """

    def __init__(self, dispatcher: Any, type_: Any) -> None:
        self._dispatcher, self._numba_type_ = dispatcher, type_
        found: dict[str, Any] = dispatcher.__dict__.setdefault("_pointed_at", {})
        if type_.name not in found:  # to tell signatures apart takes long, and runs ask for the same ones
            library = dispatcher.overloads[type_.signature.args].library
            found[type_.name] = library, address_of(dispatcher, type_)
        self.library, self.address = found[type_.name]

    def __call__(self, *args: Any) -> Any:
        return self._dispatcher(*args)


def address_of(dispatcher: Any, type_: Address) -> int:
    """Where the function with the signature of a type begins."""
    compiled = dispatcher.overloads.get(type_.signature.args) or dispatcher.get_compile_result(type_.signature)
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def function_at(type_: Address) -> Any:
    """For compiled code, ``f(address)``: the function of type `type_` (as made by `function`) whose code is there.

    The address is that of a `Pointer` or of an `Entry`: an integer, which costs nothing to pass.
    """

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], cgutils.voidptr_t)

        return type_(types.int64), generate

    return at


@unbox(Address)
def _given(type_: Any, given: Any, c: Any) -> Any:
    """The address of a `Pointer`, or of what a dispatcher has for this signature."""
    api, builder = c.pyapi, c.builder
    number = cgutils.alloca_once_value(builder, api.object_getattr_string(given, "address"))
    with builder.if_then(cgutils.is_null(builder, builder.load(number)), likely=False):
        api.err_clear()
        module = api.import_module(c.context.insert_const_string(builder.module, __name__))
        find = api.object_getattr_string(module, address_of.__name__)
        api.decref(module)
        wanted = api.unserialize(api.serialize_object(type_))
        builder.store(api.call_function_objargs(find, (given, wanted)), number)
        api.decref(find)
        api.decref(wanted)
    found = builder.load(number)
    is_error = cgutils.is_null(builder, found)
    value = cgutils.alloca_once_value(builder, ir.Constant(cgutils.voidptr_t, None))
    with builder.if_then(builder.not_(is_error)):
        builder.store(api.long_as_voidptr(found), value)
        api.decref(found)
    return NativeValue(builder.load(value), is_error=is_error)
