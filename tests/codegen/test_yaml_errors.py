"""Files that are no proper YAML, or more than the generator reads of it."""

import pytest

from tests.codegen.project import Case, check_case, write_project

CASES = (
    Case(
        "tab in the indentation",
        "- func: abs(Tensor self) -> Tensor\n\tfamily: pointwise\n",
        "ops.yaml:2:1: error[E003] tab in the indentation",
        "YAML indents with spaces only",
    ),
    Case(
        "bad indentation",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
           dispatch: {CPU: abs}
        """,
        "ops.yaml:3:12: error[E004] not YAML: mapping values are not allowed in this context",
        "put a value that has ': ' in it in quotes; or check the indentation here and on the line above",
    ),
    Case(
        "a sign and a space, as lists have it",
        """
        - func: abs(Tensor self) -> Tensor
          family: - pointwise
        """,
        "ops.yaml:2:11: error[E004] not YAML: block sequence entries are not allowed in this context",
        "put a value that begins with '- ' in quotes, or remove the space behind the sign",
    ),
    Case(
        "unclosed bracket",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs
        """,
        "ops.yaml:3:13: error[E004] not YAML: while parsing a flow mapping: did not find expected ',' or '}'",
        "close the bracket that begins here, and put commas between what is in it",
    ),
    Case(
        "unclosed list",
        """
        - func: abs(Tensor self) -> Tensor
          family: [pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:2:11: error[E004] not YAML: while parsing a flow sequence: did not find expected ',' or ']'",
        "close the bracket that begins here, and put commas between what is in it",
    ),
    Case(
        "no space behind a colon",
        """
        - func: abs(Tensor self) -> Tensor
          family:pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:2:3: error[E004] not YAML: while scanning a simple key: could not find expected ':'",
        "write a space behind the colon: 'key: value'",
    ),
    Case(
        "unclosed quote",
        """
        - func: "abs(Tensor self) -> Tensor
          family: pointwise
        """,
        "ops.yaml:1:9: error[E004] not YAML: while scanning a quoted scalar: found unexpected end of stream",
        "close the quote that begins here",
    ),
    Case(
        "colon in a plain value",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          aclnn: a: b
        """,
        "ops.yaml:3:11: error[E004] not YAML: mapping values are not allowed in this context",
        "put a value that has ': ' in it in quotes; or check the indentation here and on the line above",
    ),
    Case(
        "control character",
        "- func: abs(Tensor self) -> Tensor\n  family: \x07\n",
        "ops.yaml:2:11: error[E004] not YAML: control characters are not allowed",
        "check indentation, colons, quotes and brackets here and on the line above",
    ),
    Case(
        "empty file",
        "",
        "ops.yaml:1:1: error[E005] ops.yaml is empty",
        "it must be a list of entries ('- key: value')",
    ),
    Case(
        "only comments",
        """
        # nothing
        """,
        "ops.yaml:1:1: error[E005] ops.yaml is empty",
        "it must be a list of entries ('- key: value')",
    ),
    Case(
        "a document without content",
        """
        ---
        """,
        "ops.yaml:1:1: error[E005] ops.yaml is empty",
        "it must be a list of entries ('- key: value')",
    ),
    Case(
        "anchor",
        """
        - func: abs(Tensor self) -> Tensor
          family: &f pointwise
          composite: abs
        """,
        "ops.yaml:2:11: error[E006] a YAML anchor or alias is not supported here",
        "write the value out; one that begins with * or & needs quotes",
    ),
    Case(
        "alias",
        """
        - &op
          func: abs(Tensor self) -> Tensor
          family: pointwise
          composite: abs
        """,
        "ops.yaml:1:3: error[E006] a YAML anchor or alias is not supported here",
        "write the value out; one that begins with * or & needs quotes",
    ),
    Case(
        "two documents",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
        ---
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:4:1: error[E006] a second YAML document ('---') is not supported here",
        "keep all entries in one list",
    ),
    Case(
        "list as key",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          composite: abs
          ? [a, b]
          : c
        """,
        "ops.yaml:4:5: error[E006] a key must be a word",
        "write 'key: value'",
    ),
    Case(
        "too deep",
        """
        [[[[[[[[[[[[]]]]]]]]]]]]
        """,
        "ops.yaml:1:12: error[E006] such deep nesting is not supported here",
        "an entry is a flat mapping",
    ),
    Case(
        "mapping instead of list",
        """
        func: abs(Tensor self) -> Tensor
        """,
        "ops.yaml:1:1: error[E010] ops.yaml must be a list of entries",
        "start every entry with '- '",
    ),
    Case(
        "word instead of entry",
        """
        - abs
        """,
        "ops.yaml:1:3: error[E010] an entry must be a mapping",
        "write '- key: value'",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_yaml(case, tmp_path):
    write_project(tmp_path, ops=case.text, derivatives="[]")
    check_case(case, tmp_path)
