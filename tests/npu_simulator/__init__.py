"""A simulated Ascend device, for tests of what calls CANN's C interface.

The libraries of a CANN toolkit, compiled from C when they are needed (about two seconds, once): `libascendcl.so` (the
runtime), `libnnopbase.so` (descriptors and executors), `libopapi*.so` (902 ops in two functions each, from
`signatures.tsv`, which was taken from CANN's headers), `libhccl.so` (collectives between processes on one machine),
`libascend_hal.so` and a custom operator library. They lie in a folder tree like that of a toolkit, and programs load
them with `dlopen`. What an op computes is a Python function in `evaluate/`, called by the thread of the stream when it
comes to the op; what a collective does is C.

What passes here
    has loaded libraries and symbols as the real ones are loaded, has passed arguments of the right number, order and C
    type, has kept to the two phases of an op, to the rules of memory, streams, contexts and events, and to the meaning
    of arguments as CANN's documents give it. Neither the device nor the evaluators know anything of the library that is
    tested, so the two do not agree by having copied from each other.

What it does not prove
    how a real device rounds, which dtypes and formats the kernels of a processor take, how fast anything is, and what
    only happens with true asynchronous memory access. Where CANN's documents are wrong or were misread, this is, too:
    the evaluators quote what is doubtful. Of HCCL there are no suspended communicators and no rank tables. There is no
    graph capture, no internal formats, no PTA cache (its functions are absent, as they may be), and of executors only
    aclSetTensorAddr changes addresses. Quantized products are not evaluated. The random numbers of a seed are not those
    of a device.

Stricter than a real device, so that mistakes show
    - Device memory can't be read by the host: SIGSEGV. New memory holds 0xA5, freed memory 0xDD, addresses are aligned
      to 64 bytes and not more, and the workspace is overwritten before each op.
    - Outputs must have the very shape and dtype that the inputs imply; nothing is broadcast, and a byte that an op does
      not write stays what it was. Reductions name all their dimensions. Ops in CONTIGUOUS_ONLY take no strided tensors.
    - Positions beyond a tensor fail the stream (507015).
    - Lengths of 0 are refused by aclrtMemcpy and the like.
    - Copies between devices need aclrtDeviceEnablePeerAccess.
    - Uses of what was destroyed or used up are noted as violations, whatever the caller does with the code.
    - So are two uses of the same memory, one of them a write, that nothing orders: on two streams without an event
      between them, or by the host (aclrtMemcpy, aclrtFree) that has not waited. It need not have gone wrong.
    - So are collectives on which processes do not agree, and they fail the stream (507048); a device may hang instead.

Use
    >>> from tests.npu_simulator import build
    >>> from tests.npu_simulator.device import Device
    >>> build.unavailable()                    # None, or the reason: no Linux, no C compiler
    >>> toolkit = build.build("single")        # "split": libopapi_math.so ..; "features": libaclnn_math.so ..
    >>> toolkit = build.build("split", without=["aclnnTopk"])      # a toolkit in which an op is missing
    >>> toolkit.environment()                  # ASCEND_HOME_PATH .., to be set before the program looks for libraries
    >>> device = Device(toolkit)               # one in a process, before the first call

    Tests take the fixtures `device` and `client` of `tests/npu/fixtures.py`; `client` asserts at its end that nothing
    is left, nothing was violated, and no evaluator failed.

    Environment, read when the library is loaded: NPU_SIMULATOR_DEVICES (2), NPU_SIMULATOR_MEMORY (bytes of each,
    8 GiB); read at each call: NPU_SIMULATOR_SOC ("Ascend910B1"; empty: aclrtGetSocName fails) and
    ASCEND_RT_VISIBLE_DEVICES.

What happened
    device.stats()            live tensors, scalars, arrays, lists, executors, streams, events, contexts,
                              communicators, blocks, host_blocks, bytes; launches, synchronizations,
                              unpinned_copies, violations
    device.leaks()            of these what is live and not 0
    device.violations()       texts, since the last question
    device.failures           tracebacks of evaluators; the stream has 507015
    device.calls("aclrtMalloc")   how often; "aclrt*": all of them together
    device.pending(stream)    jobs that a stream has not done (None: the default stream)
    device.peek(address, n)   bytes of device memory
    with device.log() as log: afterwards a list of Launch(name, stream, arguments): ops with dtypes and shapes, copies,
                              records and waits, in the order of the calls

    with device.journal() as calls: the names of all calls: ["aclrtSetDevice", "aclnnAddGetWorkspaceSize", ..]

What shall happen
    with device.paused(stream):                 it takes jobs and begins none; all_paused(): none does
    with device.scheduled(seed):                one stream at a time runs, in an order that the number decides
    with device.delayed("aclnnAdd", seconds):   each run takes that much longer
    with device.idle():                         ops do nothing
    with device.injected(name, code, phase, nth):   the nth call fails. Phase 0: GetWorkspaceSize; 2: the launch, or a
                              function of the runtime; 1: when the stream comes to it. "aclnn*": any op
    with device.limited_memory(size, device=0): 207001 beyond it
    device.evaluators[name] = function          another evaluator; device.forget_checks() has it asked in phase 1, too
    device.reset()                              as if the process were new

Evaluators get arrays (views of device memory; None for a null handle), tuples for arrays of numbers, lists for lists,
Python numbers for scalars. In the first phase they are called with zeros of the same layout, to see whether they would
refuse (161001, 161002); what they accepted once is not asked again.
"""
