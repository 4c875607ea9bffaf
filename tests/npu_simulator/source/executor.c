/* libnnopbase.so, its other half: the two phases of an op. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sim_arg *sim_list_arguments(const void *handle, int kind, int64_t *count);
const sim_arg *sim_argument(const void *handle, int handle_kind);

typedef struct {
    sim_header header;
    sim_op *op;
    sim_arg *args;
    int count;
    uint64_t workspace;
    bool repeatable;
} sim_executor;

static bool initialized;
int aclnnInit(const char *config) {
    ENTER(0);
    (void)config;
    REFUSE_UNLESS(!initialized, REPEAT_INITIALIZE, "aclnnInit was called before");
    initialized = sim_initialized = true; /* either of the two is enough for ops */
    LEAVE(0);
}

int aclnnFinalize(void) {
    ENTER(0);
    initialized = false;
    LEAVE(0);
}

/* -------------------- arguments -------------------- */

static const int item_sizes[] = {4, 2, 1, 4, 1, 0, 2, 2, 4, 8, 8, 8, 1, 0, 0, 0, 8, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
static int item_size(int dtype) { return dtype >= 0 && dtype < (int)(sizeof item_sizes / sizeof(int)) ? item_sizes[dtype] : 0; }

static void release_args(sim_arg *args, int count) {
    for (int i = 0; i < count; i++) free(args[i].items);
    free(args);
}

static sim_arg *copy_args(const sim_arg *args, int count) {
    sim_arg *copy = memcpy(malloc((count + 1) * sizeof *args), args, count * sizeof *args);
    for (int i = 0; i < count; i++) {
        int64_t size = 0;
        switch (args[i].kind) {
            case 'L': case 'R': size = sizeof(sim_arg); break;
            case 'I': size = sizeof(int64_t); break;
            case 'F': size = sizeof(float); break;
            case 'B': case 'z': size = 1; break;
        }
        if (args[i].items) copy[i].items = memcpy(malloc(args[i].count * size + 1), args[i].items, args[i].count * size + (args[i].kind == 'z'));
    }
    return copy;
}

/* The elements that a view reaches: from 0 to the one before `end`; 0 for an empty view, -1 if it reaches below 0. */
static int64_t extent(const sim_arg *arg) {
    int64_t low = arg->offset, high = arg->offset;
    for (int i = 0; i < arg->rank; i++) {
        if (arg->dims[i] <= 0) return arg->dims[i] ? -1 : 0;
        *(arg->strides[i] < 0 ? &low : &high) += (arg->dims[i] - 1) * arg->strides[i];
    }
    return low < 0 ? -1 : high + 1;
}

static int check_tensor(sim_arg *arg, const char *op, int number) {
    int size = item_size(arg->dtype);
    if (!size) return sim_fail(PARAM_INVALID, "%s: argument %d has dtype %d", op, number, arg->dtype);
    int64_t end = extent(arg);
    arg->bytes = end * size;
    if (end < 0) return sim_fail(PARAM_INVALID, "%s: the view of argument %d begins before its storage", op, number);
    if (!end) return 0;
    if (end > arg->storage) return sim_fail(PARAM_INVALID, "%s: the view of argument %d goes beyond its storage", op, number);
    sim_block *block = sim_block_of(arg->address);
    if (!block || (uintptr_t)arg->address + arg->bytes > block->address + block->asked)
        return sim_fail(PARAM_INVALID, "%s: argument %d is not in memory of a device", op, number);
    if (sim_device_of(arg->address) != sim_device_here())
        return sim_fail(PARAM_INVALID, "%s: argument %d is in memory of another device", op, number);
    if ((uintptr_t)arg->address % 32) return sim_fail(PARAM_INVALID, "%s: argument %d is not aligned to 32", op, number);
    arg->alias = sim_alias(arg->address);
    return 0;
}

static int stale(const char *op, int number) {
    sim_violation("%s: argument %d is no descriptor of its kind, or one that was destroyed", op, number);
    return sim_fail(INNER_NULLPTR, "%s: argument %d is no descriptor of its kind", op, number);
}

static int handle_kind(char kind) {
    switch (kind) {
        case 'T': return H_TENSOR;
        case 'S': return H_SCALAR;
        case 'I': return H_INTS;
        case 'F': return H_FLOATS;
        case 'B': return H_BOOLS;
        case 'L': return H_TENSORS;
        case 'R': return H_SCALARS;
    }
    return 0;
}

static int take_list(sim_arg *arg, const char *op, int number, const void *handle) {
    arg->items = sim_list_arguments(handle, arg->kind, &arg->count);
    if (!arg->items) return stale(op, number);
    for (int i = 0; i < arg->count && arg->kind == 'L'; i++) {
        int code = check_tensor((sim_arg *)arg->items + i, op, number);
        if (code) return code;
    }
    return 0;
}

static int take_handle(sim_arg *arg, const char *op, int number, const void *handle) {
    if (!handle) return 0; /* the evaluator knows which ones are optional */
    if (arg->kind == 'L' || arg->kind == 'R') return arg->rank = 0, take_list(arg, op, number, handle);
    const sim_arg *described = sim_argument(handle, handle_kind(arg->kind));
    if (!described) return stale(op, number);
    *arg = *described;
    if (arg->kind == 'T') return check_tensor(arg, op, number);
    if (arg->kind == 'S') return 0;
    sim_arg *copy = copy_args(arg, 1);
    *arg = *copy;
    free(copy);
    return 0;
}

static int take(sim_arg *arg, const sim_op *op, int number, sim_value value) {
    char kind = op->kinds[number];
    arg->kind = kind;
    arg->rank = -1;
    if (handle_kind(kind)) return take_handle(arg, op->name, number, value.p);
    if (kind == 'z') {
        if (value.p) arg->items = strdup(value.p), arg->count = strlen(value.p);
    } else if (kind == 'g' || kind == 'f') {
        arg->real = value.d;
    } else {
        arg->integer = value.i;
    }
    return 0;
}

/* -------------------- what was accepted before is not checked again -------------------- */

static uint64_t *accepted;
static size_t accepted_room, accepted_count;

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
    for (const unsigned char *byte = data; size--; byte++) hash = (hash ^ *byte) * 0x100000001b3u;
    return hash;
}

static uint64_t mix_arg(uint64_t hash, const sim_arg *arg) {
    hash = mix(hash, &arg->kind, 4 * sizeof(int32_t));
    if (arg->rank > 0) {
        hash = mix(hash, arg->dims, arg->rank * sizeof(int64_t));
        hash = mix(hash, arg->strides, arg->rank * sizeof(int64_t));
    }
    hash = mix(hash, &arg->integer, sizeof(int64_t) + 2 * sizeof(double));
    hash = mix(hash, &arg->count, sizeof arg->count);
    const int sizes[] = {['I'] = 8, ['F'] = 4, ['B'] = 1, ['z'] = 1};
    if (arg->kind == 'L' || arg->kind == 'R')
        for (int i = 0; i < arg->count; i++) hash = mix_arg(hash, (sim_arg *)arg->items + i);
    else if (arg->items) hash = mix(hash, arg->items, arg->count * sizes[arg->kind]);
    return hash;
}

/* Whether the hash is there; puts it there. */
static uint64_t *place_of(uint64_t hash) {
    size_t at = hash % accepted_room;
    while (accepted[at] && accepted[at] != hash) at = (at + 1) % accepted_room;
    return &accepted[at];
}

static void accept(uint64_t hash) {
    if (2 * accepted_count >= accepted_room) {
        uint64_t *old = accepted;
        size_t room = accepted_room;
        accepted_room = 2 * room + 1024;
        accepted = calloc(accepted_room, sizeof *accepted);
        for (size_t i = 0; i < room; i++)
            if (old[i]) *place_of(old[i]) = old[i];
        free(old);
    }
    uint64_t *place = place_of(hash);
    accepted_count += !*place;
    *place = hash;
}

void sim_forget_accepted(void) {
    pthread_mutex_lock(&sim_mutex);
    free(accepted);
    accepted = NULL, accepted_room = accepted_count = 0;
    pthread_mutex_unlock(&sim_mutex);
}

/* Which arguments the evaluator wrote, in zeros like the tensors or in themselves. */
static void note_writes(sim_op *op, const sim_arg *args, int count) {
    for (int i = 0; i < count && i < 64; i++)
        if (args[i].written) op->writes |= (uint64_t)1 << i;
}

/* Asks the evaluator whether it would do it. The lock is not held meanwhile. */
static int check(sim_op *op, sim_arg *args, int count) {
    uint64_t hash = mix(0xcbf29ce484222325u, &op, sizeof op);
    for (int i = 0; i < count; i++) hash = mix_arg(hash, &args[i]);
    hash += !hash;
    if (accepted_room && *place_of(hash)) return 0;
    if (!sim_evaluate) return sim_fail(FIND_KERNEL, "%s: nothing evaluates ops", op->name);
    sim_explanation[0] = 0;
    pthread_mutex_unlock(&sim_mutex);
    int code = sim_evaluate(0, op->name, count, args);
    pthread_mutex_lock(&sim_mutex);
    if (code) return sim_fail(code, "%s: %s", op->name, sim_explanation);
    note_writes(op, args, count);
    accept(hash);
    return 0;
}

/* -------------------- phase 1 -------------------- */

/* By name, so that it is the same in each run: a quarter of the ops needs none. */
static uint64_t workspace_of(const char *name) {
    uint64_t hash = mix(0xcbf29ce484222325u, name, strlen(name));
    return hash % 4 ? 512 * (1 + hash % 8) : 0;
}

static int begin(sim_op *op, const sim_value *values, uint64_t *size, void **executor) {
    if (!size || !executor) return sim_fail(PARAM_NULLPTR, "%s: no place for workspace size or executor", op->name);
    int code = sim_injected(op->name, 0), count = strlen(op->kinds);
    if (code) return sim_fail(code, "%sGetWorkspaceSize: injected", op->name);
    sim_arg *args = calloc(count + 1, sizeof *args);
    for (int i = 0; i < count && !code; i++) code = take(&args[i], op, i, values[i]);
    if (!code) code = check(op, args, count);
    sim_executor *it = code ? NULL : sim_new(H_EXECUTOR);
    if (!it) {
        release_args(args, count);
        return code ? code : sim_fail(INNER, "%s: no more executors", op->name);
    }
    it->op = op, it->args = args, it->count = count;
    *size = it->workspace = workspace_of(op->name);
    *executor = it;
    return 0;
}

static int prepare(sim_op *op, const char *name) {
    op->site.name = name;
    op->site.needs = NEEDS_CONTEXT;
    pthread_mutex_lock(&sim_mutex);
    if (sim_forked) return sim_fail(RT_DRV_INTERNAL, "%s: the process was forked after initialization", name);
    if (!sim_initialized) return sim_fail(UNINITIALIZE, "%s: neither aclInit nor aclnnInit was called", name);
    if (!sim_here()) return sim_fail(RT_CONTEXT_NULL, "%s: the thread has no context", name);
    return 0;
}

int sim_phase1(sim_op *op, const sim_value *values, uint64_t *workspace_size, void **executor) {
    int code = prepare(op, op->name);
    if (sim_journaling) sim_log("%sGetWorkspaceSize\n", op->name);
    return sim_leave(code ? code : begin(op, values, workspace_size, executor));
}

/* -------------------- phase 2 -------------------- */

typedef struct { sim_op *op; sim_arg *args; int count; char *workspace; uint64_t size; } execution;

static int run_execution(sim_job *job) {
    execution *it = job->data;
    memset(it->workspace, 0x5C, it->size); /* whatever else lies there is lost */
    return sim_evaluate ? sim_evaluate(1, it->op->name, it->count, it->args) : RT_INTERNAL;
}

static void release_execution(sim_job *job) {
    execution *it = job->data;
    note_writes(it->op, it->args, it->count);
    release_args(it->args, it->count);
    free(it);
}

static void use_tensor(sim_job *job, const sim_arg *arg, bool writes) {
    if (arg->kind == 'T' && arg->rank >= 0) sim_job_uses(job, arg->address, arg->bytes, writes);
}

static void use_memory(sim_job *job, const execution *it) {
    for (int i = 0; i < it->count; i++) {
        bool writes = i < 64 && it->op->writes >> i & 1;
        use_tensor(job, &it->args[i], writes);
        for (int j = 0; it->args[i].kind == 'L' && j < it->args[i].count; j++)
            use_tensor(job, (sim_arg *)it->args[i].items + j, writes);
    }
}

static const char *const dtype_names[] = {
    "float32", "float16", "int8", "int32", "uint8", "", "int16", "uint16", "uint32", "int64", "uint64", "float64", "bool", "",
    "", "", "complex64", "complex128", "", "", "", "", "", "", "", "", "", "bfloat16",
};

static void describe(const sim_arg *args, int count) {
    for (int i = 0; i < count; i++) {
        const sim_arg *arg = &args[i];
        const char *gap = i ? ", " : "";
        if (arg->kind == 'T' && arg->rank < 0) sim_log("%sNone", gap);
        else if (arg->kind == 'T') {
            sim_log("%s%s[", gap, dtype_names[arg->dtype]);
            for (int d = 0; d < arg->rank; d++) sim_log(d ? ",%ld" : "%ld", (long)arg->dims[d]);
            sim_log("]");
        } else if (arg->kind == 'L') {
            sim_log("%s(", gap);
            describe(arg->items, arg->count);
            sim_log(")");
        } else sim_log("%s%c", gap, arg->kind);
    }
}

static int check_workspace(const sim_executor *it, void *workspace, uint64_t size) {
    if (size < it->workspace) return sim_fail(PARAM_INVALID, "%s: a workspace of %d bytes", it->op->name, (int)size);
    if (!size) return 0;
    sim_block *block = sim_block_of(workspace);
    if (!block || (uintptr_t)workspace + size > block->address + block->asked)
        return sim_fail(PARAM_INVALID, "%s: the workspace is not in memory of a device", it->op->name);
    return (uintptr_t)workspace % 32 ? sim_fail(PARAM_INVALID, "%s: the workspace is not aligned", it->op->name) : 0;
}

static int check_executor(const sim_executor *it, const sim_op *op) {
    if (sim_is(it, H_EXECUTOR) && it->op == op) return 0;
    if (!it) return sim_fail(PARAM_NULLPTR, "%s: the executor is null", op->name);
    sim_violation("%s: an executor that is used up, or another op's", op->name);
    return sim_fail(INNER_NULLPTR, "%s: the executor is used up, or another op's", op->name);
}

static void log_launch(const execution *it, int stream) {
    sim_launches++;
    it->op->launches++;
    if (!sim_logging) return;
    sim_log("%s\t%d\t", it->op->name, stream);
    describe(it->args, it->count);
    sim_log("\n");
}

static int launch(sim_executor *executor, void *workspace, uint64_t size, sim_stream *stream) {
    execution *it = malloc(sizeof *it);
    *it = (execution){executor->op, executor->args, executor->count, sim_alias(workspace), size};
    if (executor->repeatable) it->args = copy_args(it->args, it->count);
    else sim_delete(executor); /* used up here, and not when the stream comes to it */
    sim_job *job = sim_job_new(it->op->name, run_execution);
    job->data = it;
    job->release = release_execution;
    use_memory(job, it);
    sim_job_uses(job, workspace, size, true);
    log_launch(it, stream->id);
    return sim_enqueue(stream, job);
}

static int second(sim_op *op, void *workspace, uint64_t size, sim_executor *executor, void *stream) {
    int code = sim_injected(op->name, 2);
    if (code) {
        if (sim_is(executor, H_EXECUTOR) && !executor->repeatable) release_args(executor->args, executor->count), sim_delete(executor);
        return sim_fail(code, "%s: injected", op->name);
    }
    if ((code = check_executor(executor, op)) || (code = check_workspace(executor, workspace, size))) return code;
    sim_stream *at = sim_stream_get(stream, &code);
    return at ? launch(executor, workspace, size, at) : code ? code : sim_fail(RT_NO_STREAM, "no more streams");
}

int sim_phase2(sim_op *op, void *workspace, uint64_t size, void *executor, void *stream) {
    int code = prepare(op, op->name);
    if (sim_journaling) sim_log("%s\n", op->name);
    return sim_leave(code ? code : second(op, workspace, size, executor, stream));
}

/* -------------------- executors that are kept -------------------- */

#define GET_EXECUTOR(handle, name) \
    REFUSE_UNLESS(sim_is(handle, H_EXECUTOR), INNER_NULLPTR, "%s: %p is no executor", __func__, handle); \
    sim_executor *name = handle

int aclSetAclOpExecutorRepeatable(void *executor) {
    ENTER(0);
    GET_EXECUTOR(executor, it);
    it->repeatable = true;
    LEAVE(0);
}

/* Only one that is repeatable belongs to the caller. */
int aclDestroyAclOpExecutor(void *executor) {
    ENTER(0);
    if (!sim_is(executor, H_EXECUTOR)) sim_violation("aclDestroyAclOpExecutor of an executor that is used up");
    GET_EXECUTOR(executor, it);
    REFUSE_UNLESS(it->repeatable, NOT_TRANS_EXECUTOR, "aclDestroyAclOpExecutor: the executor is not repeatable");
    release_args(it->args, it->count);
    sim_delete(it);
    LEAVE(0);
}

/* The tensors of an executor in the order of its arguments; `which` 0 all, 1 those that come before the last, 2 the rest. */
static int set_address(sim_executor *it, uint64_t index, void *address) {
    for (int i = 0; i < it->count; i++) {
        sim_arg *arg = &it->args[i];
        if (arg->kind != 'T' || arg->rank < 0 || index--) continue;
        arg->address = address;
        return check_tensor(arg, it->op->name, i);
    }
    return sim_fail(PARAM_INVALID, "%s has no such tensor", it->op->name);
}

int aclSetTensorAddr(void *executor, size_t index, void *tensor, void *address) {
    ENTER(0);
    (void)tensor;
    GET_EXECUTOR(executor, it);
    REFUSE_UNLESS(it->repeatable, NOT_TRANS_EXECUTOR, "aclSetTensorAddr: the executor is not repeatable");
    LEAVE(set_address(it, index, address));
}
