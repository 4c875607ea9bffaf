/* libhccl.so: collectives. What the header says of dtypes, reductions and arguments is checked; what ranks do not agree on,
 * which a real device would hang on or reduce in silence, is a violation and fails the stream. */
#include "core.h"
#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT_INFO 4108
#define CONNECT_SECONDS 120
#define EXECUTE_SECONDS 1836
#define STREAM_ERROR 507048 /* what a stream has after a collective that did not come to its end */

typedef struct {
    sim_header header;
    exchange *between;
    pthread_mutex_t turn;
    int rank, device, error, pending;
    char name[128];
} communicator;

/* Codes of the runtime, when the call could not begin, are one to HCCL; injected ones are HCCL's own. */
#define BEGIN(needs)                                    \
    static sim_site site_ = {__func__, needs, 0, NULL}; \
    int entered_ = sim_enter(&site_);                   \
    if (entered_) return entered_ < 1000 ? entered_ : HCCL_E_RUNTIME
#define NOT_NULL(pointer) REFUSE_UNLESS(pointer, HCCL_E_PTR, "%s: " #pointer " is null", __func__)
#define GET_COMMUNICATOR(handle)                                                          \
    if (!sim_is(handle, H_COMMUNICATOR)) LEAVE(no_communicator(__func__, handle));        \
    communicator *of = handle

static int no_communicator(const char *name, const void *handle) {
    if (sim_was(handle)) sim_violation("%s: a communicator that was destroyed is used", name);
    return sim_fail(HCCL_E_PTR, "%s: %p is no communicator", name, handle);
}

static double seconds(const char *name, double otherwise) {
    const char *value = getenv(name);
    return value && *value ? atof(value) : otherwise;
}

/* -------------------- communicators -------------------- */

static bool always(void *data) { return !data; }

/* The info holds a path; a file is kept open for each, as others may come late. */
int HcclGetRootInfo(char *info) {
    BEGIN(NEEDS_CONTEXT);
    NOT_NULL(info);
    int file;
    memset(info, 0, ROOT_INFO);
    LEAVE(exchange_publish(info, ROOT_INFO, &file) ? 0 : sim_fail(HCCL_E_SYSCALL, "HcclGetRootInfo: no memory to share"));
}

static int join(const char *path, uint32_t ranks, uint32_t rank, void **made) {
    if (!ranks || ranks > MAX_RANKS || rank >= ranks) return sim_fail(HCCL_E_PARA, "rank %u of %u", rank, ranks);
    exchange *between = NULL;
    int device = sim_here()->device;
    patience wait = {always, NULL, seconds("HCCL_CONNECT_TIMEOUT", CONNECT_SECONDS)};
    pthread_mutex_unlock(&sim_mutex);
    int code = exchange_join(&between, path, rank, ranks, wait);
    pthread_mutex_lock(&sim_mutex);
    if (code) return sim_fail(code, "rank %u of %u did not find the others (%d)", rank, ranks, code);
    communicator *of = sim_new(H_COMMUNICATOR);
    of->between = between, of->rank = rank, of->device = device;
    pthread_mutex_init(&of->turn, NULL);
    snprintf(of->name, sizeof of->name, "%s", path);
    *made = of;
    return 0;
}

int HcclCommInitRootInfo(uint32_t ranks, const char *info, uint32_t rank, void **comm) {
    BEGIN(NEEDS_CONTEXT);
    NOT_NULL(info && comm);
    LEAVE(join(info, ranks, rank, comm));
}

typedef struct { size_t size; uint32_t magic, version; uint64_t reserved; uint32_t buffer_size, deterministic; char name[128]; } config;

static int check_config(const config *given) {
    if (!given) return sim_fail(HCCL_E_PTR, "the configuration is null");
    if (given->magic != 0xf0f0f0f0 || given->size < 32 || !given->version)
        return sim_fail(HCCL_E_PARA, "a configuration of size %zu with mark %x", given->size, given->magic);
    bool has_name = given->size >= offsetof(config, name) + sizeof given->name;
    if (has_name && !memchr(given->name, 0, sizeof given->name)) return sim_fail(HCCL_E_PARA, "the name is too long");
    return 0;
}

static void take_name(communicator *of, const config *given) {
    if (given->size >= offsetof(config, name) + sizeof given->name && given->name[0])
        snprintf(of->name, sizeof of->name, "%s", given->name);
}

int HcclCommInitRootInfoConfig(uint32_t ranks, const char *info, uint32_t rank, const config *given, void **comm) {
    BEGIN(NEEDS_CONTEXT);
    NOT_NULL(info && comm);
    int code = check_config(given);
    if (!code) code = join(info, ranks, rank, comm);
    if (!code) take_name(*comm, given);
    LEAVE(code);
}

/* The first argument is the address of a handle. Ranks that are in no part get no communicator. */
int HcclCreateSubCommConfig(void **comm, uint32_t ranks, uint32_t *members, uint64_t number, uint32_t rank, config *given, void **made) {
    BEGIN(NEEDS_CONTEXT);
    NOT_NULL(comm && made);
    GET_COMMUNICATOR(*comm);
    *made = NULL;
    if (!members && number == UINT32_MAX) LEAVE(0);
    NOT_NULL(members);
    REFUSE_UNLESS(ranks && rank < ranks && members[rank] == (uint32_t)of->rank, HCCL_E_PARA, "rank %u of a part of %u", rank, ranks);
    int code = check_config(given), file;
    if (code) LEAVE(code);
    char mine[64], path[64];
    if (!rank && !exchange_publish(mine, sizeof mine, &file)) LEAVE(sim_fail(HCCL_E_SYSCALL, "no memory to share"));
    patience wait = {always, NULL, seconds("HCCL_CONNECT_TIMEOUT", CONNECT_SECONDS)};
    pthread_mutex_unlock(&sim_mutex);
    code = exchange_part(of->between, number, rank ? NULL : mine, path, sizeof path, wait);
    pthread_mutex_lock(&sim_mutex);
    if (code) LEAVE(sim_fail(code, "part %lu of a communicator: %d", (unsigned long)number, code));
    code = join(path, ranks, rank, made);
    if (!code) take_name(*made, given);
    LEAVE(code);
}

int HcclCommDestroy(void *comm) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    if (of->pending) {
        sim_violation("HcclCommDestroy: %d collectives are under way", of->pending);
        LEAVE(sim_fail(HCCL_E_AGAIN, "HcclCommDestroy: %d collectives are under way", of->pending));
    }
    exchange_leave(of->between);
    pthread_mutex_destroy(&of->turn);
    sim_delete(of);
    LEAVE(0);
}

int HcclGetRankSize(void *comm, uint32_t *ranks) {
    BEGIN(NEEDS_INIT);
    GET_COMMUNICATOR(comm);
    NOT_NULL(ranks);
    *ranks = exchange_ranks(of->between);
    LEAVE(0);
}

int HcclGetRankId(void *comm, uint32_t *rank) {
    BEGIN(NEEDS_INIT);
    GET_COMMUNICATOR(comm);
    NOT_NULL(rank);
    *rank = of->rank;
    LEAVE(0);
}

int HcclGetCommName(void *comm, char *name) {
    BEGIN(NEEDS_INIT);
    GET_COMMUNICATOR(comm);
    NOT_NULL(name);
    memcpy(name, of->name, sizeof of->name);
    LEAVE(0);
}

/* A process that has died is noticed here, and not by the collective that waits for it. */
int HcclGetCommAsyncError(void *comm, int *error) {
    BEGIN(NEEDS_INIT);
    GET_COMMUNICATOR(comm);
    NOT_NULL(error);
    if (!of->error && !exchange_all_live(of->between)) of->error = HCCL_E_REMOTE;
    *error = of->error;
    LEAVE(0);
}

uint32_t HcclGetCommConfigCapability(void) { return 3; }

const char *HcclGetErrorString(int code) {
    static const char *const texts[] = {
        "no error", "parameter error", "empty pointer", "memory error", "internal error", "not support feature",
        "not found specific resource", "resource unavailable", "call system interface error", "timeout",
    };
    if (code >= 0 && code < (int)(sizeof texts / sizeof *texts)) return texts[code];
    return code == HCCL_E_RUNTIME ? "call runtime api fail" : code == HCCL_E_REMOTE ? "remote error" : "unknow error";
}

/* -------------------- jobs -------------------- */

enum { REDUCING, PARTS, MESSAGES };
typedef struct {
    exchanging of;
    communicator *with;
    sim_stream *stream;
    message *messages;
    int kind, aborts, message_count;
} task;

static bool goes_on(void *data) {
    task *it = data;
    pthread_mutex_lock(&sim_mutex);
    bool wanted = it->stream->aborts == it->aborts && !it->stream->closing;
    pthread_mutex_unlock(&sim_mutex);
    return wanted;
}

static int run_task(sim_job *job) {
    task *it = job->data;
    communicator *with = it->with;
    it->of.wait = (patience){goes_on, it, seconds("HCCL_EXEC_TIMEOUT", EXECUTE_SECONDS)};
    pthread_mutex_lock(&with->turn);
    int code = it->kind == REDUCING ? exchange_reduce(&it->of)
             : it->kind == PARTS    ? exchange_parts(&it->of)
                                    : exchange_messages(it->of.in, it->messages, it->message_count, it->of.wait);
    pthread_mutex_unlock(&with->turn);
    if (!code || !goes_on(it)) return 0; /* who aborts a stream knows it */
    pthread_mutex_lock(&sim_mutex);
    if (code == HCCL_E_PARA) sim_violation("%s", it->of.difference);
    if (!with->error) with->error = code == HCCL_E_TIMEOUT ? HCCL_E_TIMEOUT : HCCL_E_REMOTE;
    pthread_mutex_unlock(&sim_mutex);
    snprintf(sim_explanation, sizeof sim_explanation, "%s", code == HCCL_E_PARA ? it->of.difference : "the others did not come");
    return STREAM_ERROR;
}

static void release_task(sim_job *job) {
    task *it = job->data;
    it->with->pending--;
    free(it->messages);
    free(it);
}

static const int item_sizes[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2}; /* HcclDataType */
static uint64_t item_size(int dtype) { return dtype >= 0 && dtype < 12 ? item_sizes[dtype] : 0; }

/* Integers up to int64, half and single precision, bfloat16. Products are not for 16 bits but float16. */
static bool can_reduce(int dtype, int op) {
    if (op < 0 || op >= REDUCTIONS) return false;
    bool known = dtype >= 0 && dtype <= 5;
    if (dtype == 11) known = true;
    return known && !(op == PROD && (dtype == 1 || dtype == 11));
}

static int check_span(const char *name, const communicator *of, const void *address, uint64_t bytes, uint64_t item) {
    if (!bytes) return 0;
    sim_block *block = sim_block_of(address);
    if (!block || (uintptr_t)address + bytes > block->address + block->asked)
        return sim_fail(HCCL_E_PARA, "%s: %p is not %lu bytes of a device", name, address, (unsigned long)bytes);
    if (sim_device_of(address) != sim_device_at(of->device)) return sim_fail(HCCL_E_PARA, "%s: memory of another device", name);
    return (uintptr_t)address % item ? sim_fail(HCCL_E_PARA, "%s: %p is not aligned to an element", name, address) : 0;
}

static int check(const communicator *of, const task *it, const char *name, const void *send, uint64_t sent, const void *receive, uint64_t taken) {
    if (it->stream->context->device != of->device) return sim_fail(HCCL_E_PARA, "%s: a stream of another device", name);
    int code = check_span(name, of, send, sent, it->of.item);
    return code ? code : check_span(name, of, receive, taken, it->of.item);
}

static int start(communicator *of, const char *name, task it, void *stream, const void *send, uint64_t sent, const void *receive, uint64_t taken) {
    int code;
    sim_stream *at = it.stream = sim_stream_get(stream, &code);
    code = at ? check(of, &it, name, send, sent, receive, taken) : HCCL_E_RUNTIME;
    if (code) {
        free(it.messages);
        return code;
    }
    it.of.in = of->between, it.with = of, it.aborts = at->aborts;
    if (send) it.of.send = sim_alias(send);
    if (receive) it.of.receive = sim_alias(receive);
    snprintf(it.of.what.name, sizeof it.of.what.name, "%s", name);
    sim_job *job = sim_job_new(name, run_task);
    job->data = memcpy(malloc(sizeof it), &it, sizeof it);
    job->release = release_task;
    of->pending++;
    sim_job_uses(job, send, sent, false);
    sim_job_uses(job, receive, taken, true);
    for (int i = 0; i < it.message_count; i++) sim_job_uses(job, it.messages[i].memory, it.messages[i].bytes, it.messages[i].receives);
    for (int i = 0; i < it.message_count; i++) it.messages[i].memory = sim_alias(it.messages[i].memory);
    if (sim_logging) sim_log("%s\t%d\t%lu of dtype %d\n", name, at->id, (unsigned long)it.of.what.count, it.of.what.dtype);
    return sim_enqueue(at, job) ? HCCL_E_RUNTIME : 0;
}

/* -------------------- collectives -------------------- */

#define GET_DTYPE(dtype) \
    uint64_t item = item_size(dtype); \
    REFUSE_UNLESS(item, HCCL_E_NOT_SUPPORT, "%s: there is no dtype %d", __func__, dtype)
#define CAN_REDUCE(dtype, op) \
    GET_DTYPE(dtype); \
    REFUSE_UNLESS(can_reduce(dtype, op), HCCL_E_NOT_SUPPORT, "%s: dtype %d is not reduced by %d", __func__, dtype, op)
#define IS_RANK(rank) REFUSE_UNLESS(rank < ranks, HCCL_E_PARA, "%s: there is no rank %u", __func__, rank)
#define ANNOUNCE(many, type, by, to) {.what = {.count = many, .dtype = type, .op = by, .root = to}, .item = item}

int HcclAllReduce(void *send, void *receive, uint64_t count, int dtype, int op, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    CAN_REDUCE(dtype, op);
    task it = {.of = ANNOUNCE(count, dtype, op, 0), .kind = REDUCING};
    LEAVE(start(of, __func__, it, stream, send, count * item, receive, count * item));
}

int HcclReduce(void *send, void *receive, uint64_t count, int dtype, int op, uint32_t root, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    CAN_REDUCE(dtype, op);
    uint32_t ranks = exchange_ranks(of->between);
    IS_RANK(root);
    task it = {.of = ANNOUNCE(count, dtype, op, root), .kind = REDUCING};
    bool gets = root == (uint32_t)of->rank;
    LEAVE(start(of, __func__, it, stream, send, count * item, gets ? receive : NULL, gets ? count * item : 0));
}

/* Element `i` of a table of counts or displacements. */
static uint64_t entry(const void *table, int i) { return ((const uint64_t *)table)[i]; }

static uint64_t end_of(const uint64_t *counts, const uint64_t *starts, int ranks) {
    uint64_t end = 0;
    for (int i = 0; i < ranks; i++)
        if (counts[i] && starts[i] + counts[i] > end) end = starts[i] + counts[i];
    return end;
}

static int start_parts(communicator *of, const char *name, task it, void *stream, const void *send, const void *receive) {
    int ranks = exchange_ranks(of->between);
    it.kind = PARTS;
    uint64_t sent = end_of(it.of.sent, it.of.sent_at, ranks), taken = end_of(it.of.taken, it.of.taken_at, ranks);
    return start(of, name, it, stream, sent ? send : NULL, sent * it.of.item, taken ? receive : NULL, taken * it.of.item);
}

int HcclBroadcast(void *memory, uint64_t count, int dtype, uint32_t root, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    GET_DTYPE(dtype);
    uint32_t ranks = exchange_ranks(of->between);
    IS_RANK(root);
    task it = {.of = ANNOUNCE(count, dtype, 0, root)};
    for (uint32_t i = 0; i < ranks && root == (uint32_t)of->rank; i++) it.of.sent[i] = i == root ? 0 : count;
    it.of.taken[root] = root == (uint32_t)of->rank ? 0 : count;
    LEAVE(start_parts(of, __func__, it, stream, memory, memory));
}

int HcclAllGather(void *send, void *receive, uint64_t count, int dtype, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    GET_DTYPE(dtype);
    task it = {.of = ANNOUNCE(count, dtype, 0, 0)};
    for (int i = 0; i < exchange_ranks(of->between); i++) it.of.sent[i] = it.of.taken[i] = count, it.of.taken_at[i] = i * count;
    LEAVE(start_parts(of, __func__, it, stream, send, receive));
}

int HcclScatter(void *send, void *receive, uint64_t count, int dtype, uint32_t root, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    GET_DTYPE(dtype);
    uint32_t ranks = exchange_ranks(of->between);
    IS_RANK(root);
    task it = {.of = ANNOUNCE(count, dtype, 0, root)};
    for (uint32_t i = 0; i < ranks && root == (uint32_t)of->rank; i++) it.of.sent[i] = count, it.of.sent_at[i] = i * count;
    it.of.taken[root] = count;
    LEAVE(start_parts(of, __func__, it, stream, send, receive));
}

int HcclReduceScatter(void *send, void *receive, uint64_t count, int dtype, int op, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    CAN_REDUCE(dtype, op);
    uint64_t ranks = exchange_ranks(of->between);
    task it = {.of = ANNOUNCE(count * ranks, dtype, op, 0), .kind = REDUCING};
    it.of.kept_from = of->rank * count, it.of.kept = count;
    LEAVE(start(of, __func__, it, stream, send, ranks * count * item, receive, count * item));
}

int HcclAlltoAll(const void *send, uint64_t sent, int dtype, const void *receive, uint64_t taken, int same, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    GET_DTYPE(dtype);
    REFUSE_UNLESS(sent == taken && dtype == same, HCCL_E_PARA, "HcclAlltoAll: what is sent is not what is taken");
    task it = {.of = ANNOUNCE(sent, dtype, 0, 0)};
    for (int i = 0; i < exchange_ranks(of->between); i++)
        it.of.sent[i] = it.of.taken[i] = sent, it.of.sent_at[i] = it.of.taken_at[i] = i * sent;
    LEAVE(start_parts(of, __func__, it, stream, send, receive));
}

int HcclAlltoAllV(const void *send, const void *counts, const void *starts, int dtype, const void *receive, const void *taken,
                  const void *taken_at, int same, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    GET_DTYPE(dtype);
    NOT_NULL(counts && starts && taken && taken_at);
    REFUSE_UNLESS(dtype == same, HCCL_E_PARA, "HcclAlltoAllV: two dtypes");
    task it = {.of = ANNOUNCE(0, dtype, 0, 0)};
    for (int i = 0; i < exchange_ranks(of->between); i++) {
        it.of.sent[i] = entry(counts, i), it.of.sent_at[i] = entry(starts, i);
        it.of.taken[i] = entry(taken, i), it.of.taken_at[i] = entry(taken_at, i);
    }
    LEAVE(start_parts(of, __func__, it, stream, send, receive));
}

int HcclBarrier(void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    task it = {.of = {.item = 1}, .kind = REDUCING};
    LEAVE(start(of, __func__, it, stream, NULL, 0, NULL, 0));
}

/* -------------------- messages -------------------- */

typedef struct { int kind; void *memory; uint64_t count; int dtype; uint32_t peer; } item_of_batch;

static int start_messages(communicator *of, const char *name, const item_of_batch *items, uint32_t count, void *stream) {
    task it = {.kind = MESSAGES, .of = {.item = 1}, .messages = calloc(count + 1, sizeof(message))};
    int code = 0;
    for (uint32_t i = 0; i < count && !code; i++) {
        uint64_t size = item_size(items[i].dtype), bytes = items[i].count * size;
        bool is_peer = items[i].peer < (uint32_t)exchange_ranks(of->between) && items[i].peer != (uint32_t)of->rank;
        if (!size || !is_peer || (unsigned)items[i].kind > 1) code = sim_fail(HCCL_E_PARA, "%s: a message of dtype %d with rank %u", name, items[i].dtype, items[i].peer);
        else code = check_span(name, of, items[i].memory, bytes, size);
        if (bytes) it.messages[it.message_count++] = (message){items[i].kind == 1, items[i].memory, bytes, items[i].peer, 0, false};
    }
    if (!code) code = start(of, name, it, stream, NULL, 0, NULL, 0);
    else free(it.messages);
    return code;
}

int HcclSend(void *memory, uint64_t count, int dtype, uint32_t peer, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    item_of_batch item = {0, memory, count, dtype, peer};
    LEAVE(start_messages(of, __func__, &item, 1, stream));
}

int HcclRecv(void *memory, uint64_t count, int dtype, uint32_t peer, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    item_of_batch item = {1, memory, count, dtype, peer};
    LEAVE(start_messages(of, __func__, &item, 1, stream));
}

int HcclBatchSendRecv(item_of_batch *items, uint32_t count, void *comm, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    GET_COMMUNICATOR(comm);
    NOT_NULL(items && count);
    LEAVE(start_messages(of, __func__, items, count, stream));
}
