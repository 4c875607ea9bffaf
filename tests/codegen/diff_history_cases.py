"""Changes that the op itself takes care of, by `versions` and `deprecated`, and changes of these entries."""

from tests.codegen.diff_project import EXP, DiffCase

_SUM = "sum.dim(Tensor self, int[1] dim, bool keepdim=False, *, ScalarType? dtype=None, float? scale=None) -> Tensor"
_AFTER_SUM = "  dtypes: number_real\n  dispatch: {CPU: sum_dim}\n"
_CALL = "sum(self, dim, keepdim, dtype=dtype, scale=scale)"
_VERSIONS = f"  versions:\n    - version: 1\n      func: {_SUM}\n      upgrade: {_CALL}\n"
_DEPRECATED = "  deprecated:\n    - {{func: '{}', since: 0.2.0, removal: 0.4.0, replacement: '{}'}}\n"
_SUM_DEPRECATED = _DEPRECATED.format(_SUM.replace("sum.dim", "sum"), _CALL)
_RENAMED = ("sum.dim(Tensor self, int[1] dim", "sum.dim(Tensor self, int[1] axis")
_TWICE = "exp(Tensor self, int times) -> Tensor"
_EXP_DEPRECATED = _DEPRECATED.format(_TWICE, "exp(self)")
_EXP_VERSIONS = f"  versions:\n    - {{version: 1, func: '{_TWICE}', upgrade: exp(self)}}\n"


def _renamed(*entries: str) -> tuple[tuple[str, str], ...]:
    """`dim` of `sum` is called `axis`, with these entries."""
    return _RENAMED, (_AFTER_SUM, _AFTER_SUM + "".join(entries))


HISTORY_CASES = (
    DiffCase(
        "S090",
        "sum.dim",
        "argument `dim` is now called `axis`",
        caller="`x.sum(dim=0)` works, with a warning",
        edits=_renamed(_SUM_DEPRECATED, _VERSIONS),
        reported=("sum.dim S090 P060",),
    ),
    DiffCase(
        "S018",
        "sum.dim",
        "argument `dim` is now called `axis`",
        caller="`x.sum(dim=0)` by keyword stops working",
        remedy="list the old call under `deprecated` as well: `versions` helps saved programs only",
        edits=_renamed(_VERSIONS),
        note="with versions only",
    ),
    DiffCase(
        "S018",
        "sum.dim",
        "argument `dim` is now called `axis`",
        caller="`x.sum(dim=0)` works, with a warning, but a saved program that calls `sum.dim` cannot be run",
        remedy="list the old schema under `versions` as well, so that saved programs keep working",
        edits=_renamed(_SUM_DEPRECATED),
        reported=("sum.dim S018 P060",),
        note="with deprecated only",
    ),
    DiffCase(
        "S040",
        "sum.dim",
        "the default of `keepdim` is now `True`, it was `False`",
        caller="`x.sum(0)` now means `keepdim=True`",
        edits=(
            ("bool keepdim=False, *, ScalarType", "bool keepdim=True, *, ScalarType"),
            (_AFTER_SUM, _AFTER_SUM + _VERSIONS),
        ),
        note="with versions, and no other call to write",
    ),
    DiffCase(
        "S090",
        "sum.dim",
        "the arguments `dtype, scale` are now in the order `scale, dtype`",
        edits=(
            (
                "bool keepdim=False, *, ScalarType? dtype=None, float? scale=None",
                "bool keepdim=False, *, float? scale=None, ScalarType? dtype=None",
            ),
            (_AFTER_SUM, _AFTER_SUM + _VERSIONS),
        ),
        reported=("sum.dim S090 P001",),
        note="where callers see nothing",
    ),
    DiffCase(
        "S090",
        "exp",
        "the op is now called `power_of_e`",
        caller="`x.exp()` works, with a warning",
        edits=(
            (
                EXP,
                EXP.replace("exp(", "power_of_e(")
                + _DEPRECATED.format("exp(Tensor self) -> Tensor", "power_of_e(self)")
                + "  versions:\n    - {version: 1, func: exp(Tensor self) -> Tensor, upgrade: power_of_e(self)}\n",
            ),
            ("- name: exp(", "- name: power_of_e("),
        ),
        reported=("exp N001 S090 P060",),
        note="another name",
    ),
    DiffCase(
        "P060",
        "exp",
        "`exp(Tensor self, int times)` is deprecated",
        caller="`x.exp(times=2)` works, with a warning",
        edits=((EXP, EXP + _EXP_DEPRECATED),),
    ),
    DiffCase(
        "P061",
        "exp",
        "`exp(Tensor self, int times)` is no longer taken",
        caller="`x.exp(times=2)` stops working",
        old_edits=((EXP, EXP + _EXP_DEPRECATED),),
    ),
    DiffCase(
        "S091",
        "exp",
        "version 1 is no longer known",
        caller="a program that was saved with version 1 of `exp` cannot be run",
        old_edits=((EXP, EXP + _EXP_VERSIONS),),
    ),
    DiffCase(
        "P062",
        "exp",
        "`exp(Tensor self, int times)` is replaced by another call",
        edits=((EXP, EXP + _EXP_DEPRECATED.replace("'exp(self)'", "exp(self * times)")),),
        old_edits=((EXP, EXP + _EXP_DEPRECATED),),
    ),
    DiffCase(
        "P063",
        "exp",
        "`exp(Tensor self, int times)` has other releases",
        edits=((EXP, EXP + _EXP_DEPRECATED.replace("0.4.0", "0.5.0")),),
        old_edits=((EXP, EXP + _EXP_DEPRECATED),),
    ),
    DiffCase(
        "S092",
        "exp",
        "programs of version 1 are upgraded in another way",
        edits=((EXP, EXP + _EXP_VERSIONS.replace("exp(self)", "exp(self * times)")),),
        old_edits=((EXP, EXP + _EXP_VERSIONS),),
    ),
)
