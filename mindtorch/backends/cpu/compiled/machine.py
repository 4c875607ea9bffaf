"""LLVM on the machine at hand: which code its CPU runs, object code from LLVM's, and addresses in object code."""

from functools import cache
from typing import Any

from llvmlite import binding

_LEVEL = 3


@cache
def description() -> str:
    """What object code depends on besides its source."""
    return "\n".join([binding.get_default_triple(), _cpu(), _features(), binding_version()])


def binding_version() -> str:
    return ".".join([str(part) for part in binding.llvm_version_info])


def _cpu() -> str:
    return str(binding.get_host_cpu_name())


def _features() -> str:
    return str(binding.get_host_cpu_features().flatten())


@cache
def _initialize() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


def _target_machine() -> Any:
    """A new one: it belongs to the engine that it is given to."""
    _initialize()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(cpu=_cpu(), features=_features(), opt=_LEVEL, reloc="pic", jit=True)


def _optimized(text: str, target_machine: Any) -> Any:
    module = binding.parse_assembly(text)
    module.verify()
    options = binding.create_pipeline_tuning_options(speed_level=_LEVEL)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = True
    builder = binding.create_pass_builder(target_machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def object_code(text: str) -> bytes:
    """Of LLVM's code as a text."""
    target_machine = _target_machine()
    return bytes(target_machine.emit_object(_optimized(text, target_machine)))


def optimized(text: str) -> str:
    """What LLVM makes of its code before it chooses instructions, for people and tests to read."""
    return str(_optimized(text, _target_machine()))


def addresses(code: bytes, names: list[str]) -> tuple[Any, list[int]]:
    """Of functions in object code, which stays loaded as long as the first result is kept."""
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, [engine.get_function_address(name) for name in names]
