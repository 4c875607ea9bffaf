"""generated/batching.py: which rule makes the kernel of an op for a batch."""

from tests.codegen.emitted import definition, emit_project, expected

OPS = """
    - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
      family: pointwise
      autogen: inplace
      promotion: default
      shape: broadcast
      dispatch: {CPU: mul}

    - func: expand(Tensor(a) self, int[] size) -> Tensor(a)
      family: view
      shape: view
      batch: expand
      view: single
      dispatch: {CPU: expand}

    - func: eye(int n) -> Tensor
      family: factory
      shape: eye
      dispatch: {CPU: eye}

    - func: odd(Tensor self) -> Tensor
      family: pointwise
      shape: odd
      promotion: default
      dispatch: {CPU: odd}
"""
RULES = """
    def broadcast(op, promotion): ...
    def view(op, promotion): ...
    def expand(op, promotion): ...
    def eye(op, promotion): ...
"""


def test_rules_by_shape_or_by_name(tmp_path):
    files = emit_project(tmp_path, OPS, mindtorch__backends__batched__rules=RULES)
    assert definition(files, "generated/batching.py", "KERNELS") == expected("""
        KERNELS = {
            # pointwise
            "mul.Tensor": rules.broadcast("mul.Tensor", "default"),
            # view
            "expand": rules.expand("expand", None),
        }
        """)
    assert 'register_kernels_of("Batched", "mindtorch._generated.batching")' in files["generated/registry/__init__.py"]


def test_without_rules_there_is_no_file(tmp_path):
    files = emit_project(tmp_path, OPS.replace("      batch: expand\n", ""))
    assert "generated/batching.py" not in files
    assert "Batched" not in files["generated/registry/__init__.py"]
