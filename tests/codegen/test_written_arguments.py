"""Arguments that an op writes, and results that kernels cannot have: what is refused, and where."""

import pytest

from tests.codegen.emitted import definition, emit_project, expected
from tests.codegen.project import diagnostics, write_project

REST = "  family: pointwise\n  dispatch: {CPU: f}\n"


def found(root, schema, keys="", derivative=None):
    """The first lines and the hints of what is wrong with an op, and perhaps its derivative."""
    ops = f"- func: {schema}\n{REST}{keys}"
    write_project(root, ops, f"- name: {schema}\n{derivative}" if derivative else "[]")
    return [(str(each).splitlines()[0], each.hint) for each in diagnostics(root)]


REFUSED = [
    (
        "f(Tensor self, Tensor(a!) running) -> Tensor(a!)",
        "",
        "ops.yaml:1:9: error[E049] f returns 'running', which it writes",
        "callers have it already: leave it out of the results",
    ),
    (
        "f_(Tensor(a!)[] self) -> ()",
        "",
        "ops.yaml:1:9: error[E049] f_ writes a list that it is called on: kernels write one tensor",
        "make the op composite, or name it without the underscore",
    ),
    (
        "f(Tensor self, Tensor(a!)?[] running) -> Tensor",
        "",
        "ops.yaml:1:38: error[E049] f writes 'running', a list that may have gaps or not be there",
        "write Tensor[], and () for none",
    ),
    (
        "f(Tensor self, Tensor(a!) running) -> Tensor",
        "  numbers: running\n",
        "ops.yaml:4:12: error[E049] f writes 'running', so that it cannot be a number",
        "remove 'running'",
    ),
    (
        "f(Tensor self, Tensor(a!) running) -> Tensor",
        "  autocast: fp32\n",
        "ops.yaml:4:3: error[E049] f writes 'running', and would write to a copy in another dtype",
        "remove 'autocast'",
    ),
    (
        "f(Tensor(a) self, Tensor(b!) running) -> Tensor(a)",
        "  view: single\n",
        "ops.yaml:4:3: error[E049] f writes 'running', and a view is taken again from its base without being written",
        "remove 'view'",
    ),
    (
        "f(Tensor self) -> (Tensor, int)",
        "",
        "ops.yaml:1:9: error[E049] the kernels of f cannot return int among other results",
        "return tensors, or make the op composite: a function that calls other ops",
    ),
    (
        "f(Tensor self, *, Tensor(a!) running) -> Tensor",
        "",
        "ops.yaml:1:9: error[E026] f does not return its out arguments in order",
        "end it with '-> Tensor(a!)'; if it writes them besides giving results, write them in front of the '*'",
    ),
]


@pytest.mark.parametrize(("schema", "keys", "error", "hint"), REFUSED)
def test_refused_ops(schema, keys, error, hint, tmp_path):
    assert found(tmp_path, schema, keys) == [(error, hint)]


WRITES = "f(Tensor self, Tensor(a!) running) -> Tensor"
REFUSED_DERIVATIVES = [
    (
        "  self: grad\n  running: grad\n",
        "derivatives.yaml:3:12: error[E073] f writes 'running': it has no gradient",
        "write constant, or have the op return the new value instead of writing it",
    ),
    (
        "  self: grad\n  running: non_differentiable\n",
        "derivatives.yaml:3:12: error[E073] f writes 'running': it has no gradient",
        "write constant, or have the op return the new value instead of writing it",
    ),
    (
        "  self: grad\n",
        "derivatives.yaml:1:9: error[E054] no formula for 'running' of f",
        "add 'running:' with constant",
    ),
    (
        "  self: grad\n  running: constant\n  result: self_t * running_t\n",
        "derivatives.yaml:4:20: error[E066] 'running' is constant: it has no tangent 'running_t'",
        "write running",
    ),
]


@pytest.mark.parametrize(("entry", "error", "hint"), REFUSED_DERIVATIVES)
def test_refused_derivatives(entry, error, hint, tmp_path):
    assert found(tmp_path, WRITES, derivative=entry) == [(error, hint)]


def test_a_name_with_two_meanings_is_refused(tmp_path):
    """An argument that is called as a gradient is."""
    schema = "f(Tensor self, Tensor grad_total) -> Tensor total"
    entry = "  self: grad_total * 2\n  grad_total: grads[0]\n"
    message = "derivatives.yaml:2:9: error[E066] 'grad_total' is an argument, and a gradient of the results"
    hint = "write grads[i] for the gradient; rename the argument to use it, too"
    assert found(tmp_path, schema, derivative=entry) == [(message, hint)]


@pytest.mark.parametrize("name", ["node", "edge", "edges", "kind", "state", "thread"])
def test_names_of_generated_code_are_no_arguments(name, tmp_path):
    message = f"ops.yaml:1:31: error[E028] '{name}' is a name that the generated code needs"
    assert found(tmp_path, f"f(Tensor self, Tensor {name}) -> Tensor") == [
        (message, "give the argument of f another name")
    ]


def test_a_list_of_results_is_not_saved(tmp_path):
    message = "derivatives.yaml:2:20: error[E066] 'result' is a list of results, which a node cannot keep"
    entry = "  self: grads[0] * result[0]\n"
    assert found(tmp_path, "f(Tensor self) -> Tensor[]", derivative=entry) == [
        (message, "compute it from the arguments")
    ]


def test_auto_element_wise_of_several_outputs_is_refused(tmp_path):
    entry = "  self: grads[0] + grads[1]\n  a: auto_element_wise\n  b: auto_element_wise\n"
    errors = found(tmp_path, "f(Tensor self) -> (Tensor a, Tensor b)", derivative=entry)
    message = "error[E068] auto_element_wise is for ops with one output that has a gradient"
    assert [error for error, _ in errors] == [f"derivatives.yaml:{line}:6: {message}" for line in (3, 4)]


def test_gradients_are_called_by_name(tmp_path):
    ops = f"- func: f(Tensor self) -> (Tensor values, Tensor places)\n{REST}"
    derivatives = (
        "- name: f(Tensor self) -> (Tensor values, Tensor places)\n  self: grad_values + grad_places * places\n"
    )
    files = emit_project(tmp_path, ops, derivatives)
    apply = definition(files, "generated/nodes/pointwise.py", "FBackward0")
    assert "return (grads[0] + grads[1] * places,)" in apply


def test_generated_code(tmp_path):
    """Checks come before the kernel, marks behind it, and what is saved of a written argument is its new value."""
    ops = f"- func: f(Tensor self, Tensor(a!) running, Tensor(b!)? seen, Tensor(c!)[] more) -> Tensor\n{REST}"
    derivatives = """
        - name: f(Tensor self, Tensor(a!) running, Tensor(b!)? seen, Tensor(c!)[] more) -> Tensor
          self: grad * self * running
          running: constant
          seen: constant
          more: constant
    """
    files = emit_project(tmp_path, ops, derivatives)
    text = definition(files, "generated/ops/pointwise.py", "f")
    checks = expected("""
        check_writable("f", "running", running)
                if seen is not None:
                    check_writable("f", "seen", seen)
                check_writable("f", "more", *more)
                node = None
    """)
    end = expected("""
        node._mt_saved = (save(input),)
                result = wrap(_f_kernels[type(input_array)](input_array, running_array, seen_array, more_arrays), node)
                mark_written(running)
                if seen is not None:
                    mark_written(seen)
                for tensor in more:
                    mark_written(tensor)
                if node is not None:
                    node._mt_saved += (save(running),)
                return result
            except CALL_ERRORS as error:
                return failed(error, f, locals())
    """)
    assert checks in text and text.endswith(end)
    assert 'saved = ("self", "running")' in definition(files, "generated/nodes/pointwise.py", "FBackward0")
