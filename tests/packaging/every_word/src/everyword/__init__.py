"""Ops in which every key and word of the manuals occurs."""

from everyword._generated import registry as registry
from everyword._generated.functions import *  # noqa: F403
