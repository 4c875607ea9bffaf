/* libascendcl.so: devices, contexts, memory, streams, events. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_NULL(pointer) REFUSE_UNLESS(pointer, INVALID_PARAM, "%s: " #pointer " is null", __func__)
#define GET_STREAM(handle)                                \
    int stream_code;                                      \
    sim_stream *at = sim_stream_get(handle, &stream_code); \
    if (!at) LEAVE(stream_code ? stream_code : sim_fail(RT_NO_STREAM, "%s: no more streams", __func__))

/* -------------------- the process -------------------- */

int aclInit(const char *config) {
    ENTER(0);
    (void)config;
    REFUSE_UNLESS(!sim_initialized, REPEAT_INITIALIZE, "aclInit was called before");
    sim_initialized = true;
    LEAVE(0);
}

int aclFinalize(void) {
    ENTER(0);
    REFUSE_UNLESS(sim_initialized, REPEAT_FINALIZE, "aclFinalize without aclInit");
    sim_initialized = false;
    LEAVE(0);
}

int aclFinalizeReference(uint64_t *references) {
    ENTER(0);
    REFUSE_UNLESS(sim_initialized, REPEAT_FINALIZE, "aclFinalizeReference without aclInit");
    sim_initialized = false;
    if (references) *references = 0;
    LEAVE(0);
}

const char *aclGetRecentErrMsg(void) { return sim_recent_messages(); }

/* Its argument says whose last error: 0, the thread's. */
int aclrtGetLastError(int level) { return level ? RT_PARAM_INVALID : sim_last_error(true); }

int aclrtPeekAtLastError(int level) { return level ? RT_PARAM_INVALID : sim_last_error(false); }

const char *aclrtGetSocName(void) {
    const char *name = getenv("NPU_SIMULATOR_SOC");
    return !name ? "Ascend910B1" : *name ? name : NULL;
}

int aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch) {
    ENTER(0);
    NOT_NULL(major && minor && patch);
    *major = 1, *minor = 15, *patch = 0;
    LEAVE(0);
}

static int64_t parameters[3];
int aclrtSetSysParamOpt(int option, int64_t value) {
    ENTER(NEEDS_INIT);
    REFUSE_UNLESS(option >= 0 && option < 3, INVALID_PARAM, "aclrtSetSysParamOpt: there is no option %d", option);
    parameters[option] = value;
    LEAVE(0);
}

int aclrtGetSysParamOpt(int option, int64_t *value) {
    ENTER(NEEDS_INIT);
    REFUSE_UNLESS(option >= 0 && option < 3 && value, INVALID_PARAM, "aclrtGetSysParamOpt: there is no option %d", option);
    *value = parameters[option];
    LEAVE(0);
}

static uint32_t execute_timeout, wait_timeout; /* taken, and without effect: nothing here runs for that long */
int aclrtSetOpExecuteTimeOut(uint32_t seconds) {
    ENTER(NEEDS_INIT);
    execute_timeout = seconds;
    LEAVE(0);
}

int aclrtSetOpWaitTimeout(uint32_t seconds) {
    ENTER(NEEDS_INIT);
    wait_timeout = seconds;
    LEAVE(0);
}

/* -------------------- devices and contexts -------------------- */

int aclrtGetDeviceCount(uint32_t *count) {
    ENTER(0);
    NOT_NULL(count);
    int numbers[MAX_DEVICES];
    *count = sim_visible_devices(numbers);
    LEAVE(0);
}

static int use(int32_t logical) {
    sim_device *device = sim_device_at(logical);
    if (!device) return sim_fail(RT_INVALID_DEVICEID, "there is no device %d", logical);
    if (!device->context) {
        device->context = sim_context_new(logical);
        device->context->is_default = true;
    }
    sim_current = device->context;
    return 0;
}

int aclrtSetDevice(int32_t device) {
    ENTER(NEEDS_INIT);
    int code = use(device);
    if (!code) sim_device_at(device)->references++;
    LEAVE(code);
}

int aclrtGetDevice(int32_t *device) {
    ENTER(NEEDS_CONTEXT);
    NOT_NULL(device);
    *device = sim_here()->device;
    LEAVE(0);
}

static int reset(int32_t number, bool force) {
    sim_device *device = sim_device_at(number);
    if (!device) return sim_fail(RT_INVALID_DEVICEID, "there is no device %d", number);
    if (device->references > 0) device->references--;
    if (force) device->references = 0;
    sim_context *context = device->context;
    if (device->references || !context) return 0;
    device->context = NULL;
    sim_context_delete(context);
    return 0;
}

int aclrtResetDevice(int32_t device) {
    ENTER(NEEDS_INIT);
    LEAVE(reset(device, false));
}

int aclrtResetDeviceForce(int32_t device) {
    ENTER(NEEDS_INIT);
    LEAVE(reset(device, true));
}

static int synchronize_device(int milliseconds) {
    int code = 0;
    sim_synchronizations++;
    for (sim_stream *each = sim_streams; each; each = each->next_stream) {
        if (each->context->device != sim_here()->device) continue;
        int own = sim_wait(each, milliseconds);
        if (!code) code = own;
        if (!sim_is(each, H_STREAM)) break; /* destroyed meanwhile by another thread */
    }
    return code;
}

int aclrtSynchronizeDevice(void) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(synchronize_device(-1));
}

int aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(synchronize_device(milliseconds));
}

int aclrtDeviceTaskAbort(int32_t device, uint32_t timeout) {
    ENTER(NEEDS_INIT);
    (void)timeout;
    REFUSE_UNLESS(sim_device_at(device), RT_INVALID_DEVICEID, "there is no device %d", device);
    for (sim_stream *each = sim_streams; each; each = each->next_stream)
        if (each->context->device == device) sim_abort(each, RT_DEVICE_TASK_ABORT);
    LEAVE(0);
}

int aclrtCreateContext(void **context, int32_t device) {
    ENTER(NEEDS_INIT);
    NOT_NULL(context);
    REFUSE_UNLESS(sim_device_at(device), RT_INVALID_DEVICEID, "there is no device %d", device);
    *context = sim_current = sim_context_new(device);
    LEAVE(0);
}

int aclrtDestroyContext(void *context) {
    ENTER(NEEDS_INIT);
    REFUSE_UNLESS(sim_is(context, H_CONTEXT), RT_INVALID_HANDLE, "%p is no context", context);
    REFUSE_UNLESS(!((sim_context *)context)->is_default, RT_INVALID_HANDLE, "a default context goes with aclrtResetDevice");
    sim_context_delete(context);
    LEAVE(0);
}

int aclrtSetCurrentContext(void *context) {
    ENTER(NEEDS_INIT);
    REFUSE_UNLESS(sim_is(context, H_CONTEXT), RT_INVALID_HANDLE, "%p is no context", context);
    sim_current = context;
    LEAVE(0);
}

int aclrtGetCurrentContext(void **context) {
    ENTER(NEEDS_CONTEXT);
    NOT_NULL(context);
    *context = sim_here();
    LEAVE(0);
}

int aclrtDeviceCanAccessPeer(int32_t *can, int32_t device, int32_t peer) {
    ENTER(NEEDS_INIT);
    NOT_NULL(can);
    REFUSE_UNLESS(sim_device_at(device) && sim_device_at(peer), RT_INVALID_DEVICEID, "there is no device %d or %d", device, peer);
    *can = device != peer;
    LEAVE(0);
}

int aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags) {
    ENTER(NEEDS_CONTEXT);
    REFUSE_UNLESS(!flags, RT_FEATURE_NOT_SUPPORT, "aclrtDeviceEnablePeerAccess: flags must be 0");
    REFUSE_UNLESS(sim_device_at(peer) && sim_device_at(peer) != sim_device_here(), RT_INVALID_DEVICEID, "%d is no peer", peer);
    sim_device_here()->peers |= 1u << (sim_device_at(peer) - sim_devices);
    LEAVE(0);
}

/* -------------------- memory -------------------- */

static int allocate(void **address, size_t size, size_t alignment) {
    if (!address || !size) return sim_fail(INVALID_PARAM, "an allocation of %zu bytes, to %p", size, (void *)address);
    *address = sim_allocate(sim_device_here(), size, alignment);
    return *address ? 0 : sim_fail(RT_MEMORY_ALLOCATION, "no room for %zu bytes on device %d", size, sim_here()->device);
}

int aclrtMalloc(void **address, size_t size, int policy) {
    ENTER(NEEDS_CONTEXT);
    REFUSE_UNLESS(policy >= 0 && policy <= 6, INVALID_PARAM, "aclrtMalloc: there is no policy %d", policy);
    LEAVE(allocate(address, size, 64));
}

int aclrtMallocAlign32(void **address, size_t size, int policy) {
    ENTER(NEEDS_CONTEXT);
    REFUSE_UNLESS(policy >= 0 && policy <= 6, INVALID_PARAM, "aclrtMallocAlign32: there is no policy %d", policy);
    LEAVE(allocate(address, size, 32));
}

int aclrtFree(void *address) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(address ? sim_release(address) : sim_fail(INVALID_PARAM, "aclrtFree: the address is null"));
}

int aclrtMallocHost(void **address, size_t size) {
    ENTER(NEEDS_CONTEXT);
    REFUSE_UNLESS(address && size, INVALID_PARAM, "aclrtMallocHost: %zu bytes", size);
    *address = sim_host_allocate(size);
    LEAVE(*address ? 0 : sim_fail(RT_MEMORY_ALLOCATION, "no room for %zu bytes on the host", size));
}

int aclrtFreeHost(void *address) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(address ? sim_host_release(address) : sim_fail(INVALID_PARAM, "aclrtFreeHost: the address is null"));
}

/* Attributes 1, 4 and 5 are of the device's own memory (HBM: all, huge pages, normal ones). */
int aclrtGetMemInfo(int attribute, size_t *room, size_t *total) {
    ENTER(NEEDS_CONTEXT);
    NOT_NULL(room && total);
    bool own = attribute == 1 || attribute == 4 || attribute == 5;
    *total = own ? sim_device_here()->limit : 0;
    *room = own && sim_device_here()->limit > sim_device_here()->used ? sim_device_here()->limit - sim_device_here()->used : 0;
    LEAVE(0);
}

/* Where a span lies: 1 a block of a device, 0 the host, -1 beyond a block. */
static int place(const void *address, size_t size) {
    if (!sim_device_of(address)) return 0;
    sim_block *block = sim_block_of(address);
    return block && (uintptr_t)address + size <= block->address + block->asked ? 1 : -1;
}

enum { H2H, H2D, D2H, D2D, DEFAULT };

static int check_peers(const void *to, const void *from) {
    sim_device *one = sim_device_of(to), *other = sim_device_of(from);
    if (!one || !other || one == other) return 0;
    if ((one->peers >> (other - sim_devices) & 1) || (other->peers >> (one - sim_devices) & 1)) return 0;
    return sim_fail(RT_PARAM_INVALID, "a copy between devices that have no access to each other");
}

static int check_copy(const void *to, size_t room, const void *from, size_t count, int kind) {
    if (!to || !from || !count) return sim_fail(INVALID_PARAM, "a copy of %zu bytes from %p to %p", count, from, to);
    if (room < count) return sim_fail(INVALID_PARAM, "a copy of %zu bytes to %zu", count, room);
    int source = place(from, count), target = place(to, count);
    if (source < 0 || target < 0) return sim_fail(RT_PARAM_INVALID, "a copy beyond the end of a block");
    if (kind < 0 || kind > DEFAULT || (kind != DEFAULT && (source != (kind >> 1) || target != (kind & 1))))
        return sim_fail(RT_PARAM_INVALID, "a copy of kind %d is between other places", kind);
    return check_peers(to, from);
}

/* Where the simulator itself can write. */
static void *reach(const void *address) {
    char *alias = sim_alias(address);
    return alias ? alias : (void *)address;
}

static void note_copy(const char *name, const void *to, const void *from, size_t count, int stream) {
    if (sim_logging) sim_log("%s\t%d\t%s%s %zu\n", name, stream, place(from, 1) ? "D" : "H", place(to, 1) ? "D" : "H", count);
}

int aclrtMemcpy(void *to, size_t room, const void *from, size_t count, int kind) {
    ENTER(NEEDS_CONTEXT);
    int code = check_copy(to, room, from, count, kind);
    if (code) LEAVE(code);
    note_copy("aclrtMemcpy", to, from, count, -1);
    sim_used_by_host(from, count, false, "aclrtMemcpy");
    sim_used_by_host(to, count, true, "aclrtMemcpy");
    memmove(reach(to), reach(from), count);
    LEAVE(0);
}

int aclrtMemcpy2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) {
    ENTER(NEEDS_CONTEXT);
    REFUSE_UNLESS(width && height && width <= to_pitch && width <= from_pitch, INVALID_PARAM, "aclrtMemcpy2d: wrong pitch");
    for (size_t row = 0; row < height; row++) {
        int code = check_copy((char *)to + row * to_pitch, width, (const char *)from + row * from_pitch, width, kind);
        if (code) LEAVE(code);
        sim_used_by_host((const char *)from + row * from_pitch, width, false, "aclrtMemcpy2d");
        sim_used_by_host((char *)to + row * to_pitch, width, true, "aclrtMemcpy2d");
    }
    for (size_t row = 0; row < height; row++)
        memmove(reach((char *)to + row * to_pitch), reach((const char *)from + row * from_pitch), width);
    LEAVE(0);
}

int aclrtMemset(void *address, size_t room, int32_t value, size_t count) {
    ENTER(NEEDS_CONTEXT);
    REFUSE_UNLESS(address && count && count <= room && place(address, count) >= 0, INVALID_PARAM, "aclrtMemset: wrong span");
    sim_used_by_host(address, count, true, "aclrtMemset");
    memset(reach(address), value, count);
    LEAVE(0);
}

typedef struct { void *to, *from; size_t count; int value; void *staged; } transfer;

static int run_copy(sim_job *job) {
    transfer *it = job->data;
    memmove(it->to, it->from, it->count);
    return 0;
}

static int run_set(sim_job *job) {
    transfer *it = job->data;
    memset(it->to, it->value, it->count);
    return 0;
}

static void release_transfer(sim_job *job) {
    transfer *it = job->data;
    free(it->staged);
    free(it);
}

static sim_job *transfer_job(const char *name, int (*run)(sim_job *), transfer it) {
    sim_job *job = sim_job_new(name, run);
    job->data = memcpy(malloc(sizeof it), &it, sizeof it);
    job->release = release_transfer;
    return job;
}

/* From pageable memory the source is copied at once; to it, the call waits. Only pinned memory makes a copy asynchronous. */
int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t count, int kind, void *stream) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    int code = check_copy(to, room, from, count, kind);
    if (code) LEAVE(code);
    bool from_host = !sim_device_of(from), to_host = !sim_device_of(to);
    REFUSE_UNLESS(!(from_host && to_host), RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyAsync: from host to host");
    transfer it = {reach(to), reach(from), count, 0, NULL};
    bool pageable = (from_host && !sim_is_pinned(from, count)) || (to_host && !sim_is_pinned(to, count));
    sim_unpinned_copies += pageable;
    if (pageable && from_host) it.from = it.staged = memcpy(malloc(count), from, count);
    sim_job *job = transfer_job("aclrtMemcpyAsync", run_copy, it);
    sim_job_uses(job, to, count, true);
    if (!it.staged) sim_job_uses(job, from, count, false);
    note_copy("aclrtMemcpyAsync", to, from, count, at->id);
    code = sim_enqueue(at, job);
    LEAVE(code || !pageable || from_host ? code : sim_wait(at, -1));
}

int aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t count, void *stream) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    REFUSE_UNLESS(count && count <= room && place(address, count) == 1, INVALID_PARAM, "aclrtMemsetAsync: wrong span");
    sim_job *job = transfer_job("aclrtMemsetAsync", run_set, (transfer){reach(address), NULL, count, value, NULL});
    sim_job_uses(job, address, count, true);
    LEAVE(sim_enqueue(at, job));
}
