"""List the packages: mindtorch/, and generated/ under the name mindtorch._generated.

This is not in pyproject.toml because its `packages.find` drops the folders inside generated/.
"""

from setuptools import find_packages, setup

GENERATED = "mindtorch._generated"

# mindtorch/_generated/ of a checkout only points at ../../generated; the installed package is generated/ itself.
library = find_packages(include=["mindtorch", "mindtorch.*"], exclude=[GENERATED, GENERATED + ".*"])
generated = [GENERATED] + [f"{GENERATED}.{name}" for name in find_packages("generated")]

setup(packages=library + generated, package_dir={GENERATED: "generated"})
