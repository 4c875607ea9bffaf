"""The generator: reads ops.yaml and derivatives.yaml, writes generated/.

Run it as ``python -m codegen``. It never imports mindtorch, and mindtorch never imports it: hand-written kernels and
helpers are read as source text, with ``ast``.
"""
