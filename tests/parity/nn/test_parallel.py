"""`nn.parallel` without devices to share the work."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def parts_of_a_batch_for_devices(T):
    parallel, layer, x = T.nn.parallel, T.nn.Linear(2, 2), T.ones(4, 2)
    found = [tried(parallel.scatter, x, ["cpu"]), tried(parallel.gather, [x, x], "cpu"), parallel.replicate(layer, [])]
    return found, tried(parallel.parallel_apply, [layer], [x, x]), tried(parallel.replicate, layer, ["cpu"])
