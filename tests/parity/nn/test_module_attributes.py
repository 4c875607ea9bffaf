"""What becomes of an attribute of a module: every kind of value, at every name, over every kind of member."""

import pytest

from tests.parity.support.programs import assert_same

VALUES = {
    "module": lambda T: T.nn.Linear(1, 1),
    "parameter": lambda T: T.nn.Parameter(T.ones(1)),
    "buffer": lambda T: T.nn.Buffer(T.ones(1)),
    "passing buffer": lambda T: T.nn.Buffer(T.ones(1), persistent=False),
    "tensor": lambda T: T.ones(1),
    "None": lambda T: None,
    "number": lambda T: 3,
    "list": lambda T: [1],
}
NAMES = (
    "head", "act", "prop", "forward", "training", "weight", "running", "passing", "inner", "plain", "new", "a.b", "",
)  # fmt: skip


def model(T):
    class Model(T.nn.Module):
        head = None

        def __init__(self):
            super().__init__()
            self.weight = T.nn.Parameter(T.zeros(1))
            self.running = T.nn.Buffer(T.zeros(1))
            self.register_buffer("passing", T.zeros(1), persistent=False)
            self.inner = T.nn.ReLU()
            self.plain = 4

        def act(self):
            return 1

        @property
        def prop(self):
            return 3

    return Model()


def seen(module):
    plain = sorted(name for name in module.__dict__ if not name.startswith("_"))
    tables = [sorted(table) for table in (module._parameters, module._buffers, module._modules)]
    return plain, tables, sorted(module._non_persistent_buffers_set), sorted(module.state_dict())


def neutral(text):
    return text.replace("mindtorch.", "torch.")


def attempt(action):
    try:
        return action()
    except Exception as error:  # noqa: BLE001  (whatever torch raises is compared)
        return neutral(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", VALUES)
def test_assignment(value, name):
    def program(T):
        module = model(T)
        result = attempt(lambda: setattr(module, name, VALUES[value](T)))
        kind = attempt(lambda: type(getattr(module, name)).__name__)
        return result, kind, *seen(module)

    assert_same(program)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("method", ["register_parameter", "register_buffer", "register_module", "add_module"])
@pytest.mark.parametrize("name", ["head", "act", "weight", "running", "inner", "plain", "new", "a.b", "", 3])
def test_registration(method, value, name):
    def program(T):
        module = model(T)
        return attempt(lambda: getattr(module, method)(name, VALUES[value](T))), *seen(module)

    assert_same(program)


@pytest.mark.parametrize("value", VALUES)
def test_before_init(value):
    def program(T):
        class Early(T.nn.Module):
            def __init__(self):
                self.member = VALUES[value](T)

        return attempt(lambda: type(Early().member).__name__)

    assert_same(program)


def test_lookups_that_forward_to_a_member():
    def program(T):
        class Wrapper(T.nn.Module):
            def __getattr__(self, name):
                try:
                    return super().__getattr__(name)
                except AttributeError:
                    return getattr(self.inner, name)

        wrapper = Wrapper()
        wrapper.inner = T.nn.Linear(2, 2)
        wrapper.other = T.nn.ReLU()
        wrapper.scale = T.nn.Parameter(T.ones(1))
        return wrapper.in_features, *seen(wrapper)

    assert_same(program)


def test_an_own_register_buffer():
    def program(T):
        calls = []

        class Own(T.nn.Module):
            def register_buffer(self, name, tensor):
                calls.append(name)
                super().register_buffer(name, tensor)

        module = Own()
        module.x = T.nn.Buffer(T.ones(1))
        refused = attempt(lambda: setattr(module, "x", T.nn.Buffer(T.ones(1), persistent=False)))
        module.x = T.zeros(1)
        return calls, refused, *seen(module)

    assert_same(program)


def test_buffers_are_tensors_with_a_tag():
    def program(T):
        buffer = T.nn.Buffer(T.ones(2, requires_grad=True))
        parameter = T.nn.Buffer(T.nn.Parameter(T.ones(2)))
        facts = [isinstance(each, (T.nn.Buffer, T.nn.Parameter)) for each in (buffer, parameter, T.ones(1))]
        return buffer, buffer.is_leaf, buffer.persistent, type(parameter) is T.Tensor, facts, T.nn.Buffer()

    assert_same(program)
