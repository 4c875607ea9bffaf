"""The generator: reads ops.yaml and derivatives.yaml, writes generated/.

Run it as ``python -m codegen``. It never imports mindtorch, and mindtorch never imports it: hand-written kernels and
helpers are read as source text, with ``ast``. It is installed as ``mindtorch_codegen``, for packages that have ops of
their own (docs/out_of_tree.md); where the files of a project lie is in project.py.

``read`` makes the objects of ``model`` from the YAML files, with what ``sources`` knows of hand-written Python;
``rules`` checks them, and ``emit`` writes them out. ``npu``, ``diff`` and ``new`` are about ACLNN, changes, and entries
for new ops.
"""
