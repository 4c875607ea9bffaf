"""Accelerators that are not there: what queries give, and errors of what needs one."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def accelerators_answer(T):
    names = "current_device_index empty_cache memory_allocated max_memory_reserved memory_stats synchronize".split()
    return [tried(getattr(T.accelerator, name)) for name in names], T.accelerator.is_available()


@program
def xpu_answers(T):
    plain = "is_initialized empty_cache memory_allocated max_memory_allocated is_bf16_supported"
    refusing = "current_device current_stream get_device_name init synchronize"
    return [tried(getattr(T.xpu, name)) for name in f"{plain} {refusing}".split()], T.xpu.manual_seed(3)
