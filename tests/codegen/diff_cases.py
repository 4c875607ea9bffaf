"""For every rule of the schema diff a change that falls under it, with everything that the diff says of that change.

The tests of the comparison and those of the formats share the table.
"""

from tests.codegen.diff_by_hand_cases import BY_HAND_CASES
from tests.codegen.diff_code_cases import CODE_CASES
from tests.codegen.diff_history_cases import HISTORY_CASES
from tests.codegen.diff_other_cases import OTHER_CASES
from tests.codegen.diff_project import DiffCase, case_report
from tests.codegen.diff_schema_cases import SCHEMA_CASES

__all__ = ["CASES", "DiffCase", "case_report"]

CASES = (*SCHEMA_CASES, *OTHER_CASES, *HISTORY_CASES, *CODE_CASES, *BY_HAND_CASES)
