"""The dtypes that the words of `dtypes:` in ops.yaml stand for, by name."""

_GROUPS = {
    "all": "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128",
    "no_bool": "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128",
    "real": "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64",
    "number_real": "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64",
    "float": "float16 bfloat16 float32 float64",
    "float_complex": "float16 bfloat16 float32 float64 complex64 complex128",
    "wide_float": "float32 float64",
    "wide_float_complex": "float32 float64 complex64 complex128",
    "complex": "complex64 complex128",
    "integral": "bool uint8 int8 int16 int32 int64",
    "number_integral": "uint8 int8 int16 int32 int64",
}
DTYPE_GROUPS = {word: tuple(names.split()) for word, names in _GROUPS.items()}
