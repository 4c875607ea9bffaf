"""Futures: results, callbacks, errors."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def futures(T):
    first, second = T.futures.Future(), T.futures.Future()
    seen = []
    first.add_done_callback(lambda future: seen.append(future.value()))
    following = first.then(lambda future: future.wait() + 1)
    both = T.futures.collect_all([first, second])
    states = [first.done(), both.done()]
    first.set_result(1)
    second.set_result(2)
    first.add_done_callback(lambda future: seen.append("late"))
    states += [following.wait(), both.done(), T.futures.wait_all([first, second]), T.futures.collect_all([]).wait()]
    return states, seen, tried(first.set_result, 3)


@program
def futures_that_fail(T):
    failed = T.futures.Future()
    failed.set_exception(ValueError("bad"))
    following = failed.then(lambda future: future.wait())
    either = T.futures.collect_all([failed, T.jit.fork(lambda: 1)])
    found = [tried(failed.wait), tried(failed.value), tried(following.wait).split("\n")[0], tried(either.wait)]
    return found, tried(T.futures.Future().set_exception, 3), T.jit.wait(T.fork(lambda a, b=1: a + b, 2, b=3))
