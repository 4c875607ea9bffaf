"""List the packages: mindtorch/, generated/ under the name mindtorch._generated, and codegen/ as mindtorch_codegen.

This is not in pyproject.toml because its `packages.find` drops the folders inside generated/.
"""

import compileall

from setuptools import find_packages, setup
from setuptools.command.editable_wheel import editable_wheel

GENERATED = "mindtorch._generated"
GENERATOR = "mindtorch_codegen"

# mindtorch/_generated/ and mindtorch_codegen/ of a checkout only point at generated/ and codegen/, which are what is
# installed under these names.
not_installed = [GENERATED, GENERATED + ".*", "mindtorch.npu.package.tests"]
library = find_packages(include=["mindtorch", "mindtorch.*"], exclude=not_installed)
generated = [GENERATED] + [f"{GENERATED}.{name}" for name in find_packages("generated")]
generator = [GENERATOR] + [f"{GENERATOR}.{name}" for name in find_packages("codegen")]


class CompiledEditable(editable_wheel):
    """An installation for editing puts the checkout on the path, with the folders that only point at others.

    For packages that lie elsewhere setuptools would install an import hook, which type checkers do not see. And pip
    compiles what it installs but not a checkout: do it here, so that the first import is no slower.
    """

    def finalize_options(self) -> None:
        self.distribution.packages = [*library, GENERATED, GENERATOR]
        self.distribution.package_dir = {"": "."}
        super().finalize_options()

    def run(self) -> None:
        super().run()
        for folder in ("mindtorch", "generated"):
            compileall.compile_dir(folder, quiet=1)


setup(
    packages=library + generated + generator,
    package_dir={GENERATED: "generated", GENERATOR: "codegen"},
    cmdclass={"editable_wheel": CompiledEditable},
)
