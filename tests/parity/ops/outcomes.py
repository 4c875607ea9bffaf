"""What is compared of a call: its result with strides, or its error."""


def outcome(call, x, args):
    try:
        found = call(x, *args)
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return [described(part) for part in (found if isinstance(found, (tuple, list)) else [found])]


def described(x):
    """All of a tensor; of an empty one not the strides, of which torch and NumPy keep different ones."""
    geometry = (x.stride(), x.storage_offset()) if x.numel() else None
    return tuple(x.shape), geometry, str(x.dtype), x.tolist()
