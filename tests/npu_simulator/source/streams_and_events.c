/* libascendcl.so, its other half: streams and events. */
#include "core.h"

#include <stdlib.h>
#include <time.h>

#define NOT_NULL(pointer) REFUSE_UNLESS(pointer, INVALID_PARAM, "%s: " #pointer " is null", __func__)
#define GET_STREAM(handle)                                \
    int stream_code;                                      \
    sim_stream *at = sim_stream_get(handle, &stream_code); \
    if (!at) LEAVE(stream_code ? stream_code : sim_fail(RT_NO_STREAM, "%s: no more streams", __func__))
#define GET_EVENT(handle, name)                                                                  \
    REFUSE_UNLESS(sim_is(handle, H_EVENT), RT_INVALID_HANDLE, "%s: %p is no event", __func__, handle); \
    sim_event *name = handle

enum { SYNC = 1, TIME_LINE = 8 };
enum { COMPLETE_0 = 0, NOT_READY_1 = 1 };          /* aclrtStreamStatus and aclrtEventStatus */
enum { RECORDED_NOT_READY = 0, RECORDED_COMPLETE = 1 }; /* aclrtEventRecordedStatus: the other way round */

/* -------------------- streams -------------------- */

static int create_stream(void **stream) {
    if (!stream) return sim_fail(INVALID_PARAM, "no place for the stream");
    *stream = sim_stream_new(sim_here());
    return *stream ? 0 : sim_fail(RT_NO_STREAM, "there are too many streams");
}

int aclrtCreateStream(void **stream) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(create_stream(stream));
}

int aclrtCreateStreamWithConfig(void **stream, uint32_t priority, uint32_t flags) {
    ENTER(NEEDS_CONTEXT);
    (void)priority;
    REFUSE_UNLESS(flags < 64, INVALID_PARAM, "aclrtCreateStreamWithConfig: flags %u", flags);
    LEAVE(create_stream(stream));
}

static int destroy_stream(void *handle, bool force) {
    if (!sim_is(handle, H_STREAM)) {
        if (sim_was(handle)) sim_violation("a stream is destroyed twice");
        return sim_fail(RT_INVALID_HANDLE, "%p is no stream", handle);
    }
    sim_stream *stream = handle;
    if (stream->context->stream == stream) return sim_fail(RT_PARAM_INVALID, "a default stream goes with its context");
    sim_stream_delete(stream, force);
    return 0;
}

int aclrtDestroyStream(void *stream) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(destroy_stream(stream, false));
}

int aclrtDestroyStreamForce(void *stream) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(destroy_stream(stream, true));
}

int aclrtSynchronizeStream(void *stream) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    sim_synchronizations++;
    LEAVE(sim_wait(at, -1));
}

int aclrtSynchronizeStreamWithTimeout(void *stream, int32_t milliseconds) {
    ENTER(NEEDS_CONTEXT);
    REFUSE_UNLESS(milliseconds >= -1, INVALID_PARAM, "a time of %d ms", milliseconds);
    GET_STREAM(stream);
    sim_synchronizations++;
    LEAVE(sim_wait(at, milliseconds));
}

int aclrtStreamQuery(void *stream, int32_t *status) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    NOT_NULL(status);
    *status = at->done < at->queued ? NOT_READY_1 : COMPLETE_0;
    if (*status == COMPLETE_0) sim_host_knows(at->clock);
    LEAVE(at->error ? sim_fail(at->error, "%s", at->error_text) : 0);
}

int aclrtStreamAbort(void *stream) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    sim_abort(at, RT_STREAM_ABORT);
    LEAVE(0);
}

int aclrtSetStreamFailureMode(void *stream, uint64_t mode) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    REFUSE_UNLESS(stream && mode <= 1, RT_PARAM_INVALID, "failure mode %d, or of a default stream", (int)mode);
    at->mode = mode;
    LEAVE(0);
}

int aclrtStreamGetId(void *stream, int32_t *number) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    NOT_NULL(number);
    *number = at->id;
    LEAVE(0);
}

int aclrtGetStreamAvailableNum(uint32_t *number) {
    ENTER(NEEDS_CONTEXT);
    NOT_NULL(number);
    *number = sim_stream_limit - sim_live(H_STREAM);
    LEAVE(0);
}

typedef struct { void (*function)(void *); void *data; } call;

static int run_call(sim_job *job) {
    call *it = job->data;
    it->function(it->data);
    return 0;
}

static void release_call(sim_job *job) { free(job->data); }

int aclrtLaunchCallback(void (*function)(void *), void *data, int block, void *stream) {
    ENTER(NEEDS_CONTEXT);
    GET_STREAM(stream);
    NOT_NULL(function);
    (void)block;
    call *it = malloc(sizeof *it);
    *it = (call){function, data};
    sim_job *job = sim_job_new("aclrtLaunchCallback", run_call);
    job->data = it;
    job->release = release_call;
    LEAVE(sim_enqueue(at, job));
}

/* -------------------- events -------------------- */

static int create_event(void **event, uint32_t flags, bool extended) {
    sim_event *it = event ? sim_new(H_EVENT) : NULL;
    if (!it) return sim_fail(INVALID_PARAM, "no place for the event");
    it->flags = flags;
    it->extended = extended;
    *event = it;
    return 0;
}

int aclrtCreateEvent(void **event) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(create_event(event, SYNC | TIME_LINE, false));
}

int aclrtCreateEventWithFlag(void **event, uint32_t flags) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(create_event(event, flags, false));
}

/* Can be recorded again and again; not for aclrtResetEvent, aclrtQueryEvent and aclrtQueryEventWaitStatus. */
int aclrtCreateEventExWithFlag(void **event, uint32_t flags) {
    ENTER(NEEDS_CONTEXT);
    LEAVE(create_event(event, flags, true));
}

int aclrtDestroyEvent(void *event) {
    ENTER(NEEDS_CONTEXT);
    if (!sim_is(event, H_EVENT) && sim_was(event)) sim_violation("an event is destroyed twice");
    GET_EVENT(event, it);
    sim_record_drop(it->last);
    sim_delete(it);
    LEAVE(0);
}

int aclrtRecordEvent(void *event, void *stream) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    GET_STREAM(stream);
    sim_record *record = calloc(1, sizeof *record);
    record->references = 2; /* the event's and the job's */
    sim_record_drop(it->last);
    it->last = record;
    sim_job *job = sim_job_new("aclrtRecordEvent", NULL);
    job->records = record;
    if (sim_logging) sim_log("aclrtRecordEvent\t%d\t%p\n", at->id, event);
    LEAVE(sim_enqueue(at, job));
}

/* Waits for the record that is the last one now. */
int aclrtStreamWaitEvent(void *stream, void *event) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    GET_STREAM(stream);
    REFUSE_UNLESS(it->flags & SYNC, RT_PARAM_INVALID, "aclrtStreamWaitEvent: the event was made without ACL_EVENT_SYNC");
    if (!it->last) LEAVE(0);
    sim_job *job = sim_job_new("aclrtStreamWaitEvent", NULL);
    job->awaits = it->last;
    it->last->references++;
    if (sim_logging) sim_log("aclrtStreamWaitEvent\t%d\t%p\n", at->id, event);
    LEAVE(sim_enqueue(at, job));
}

static void release_reset(sim_job *job) {
    sim_event *it = job->data;
    if (!sim_is(it, H_EVENT)) return;
    sim_record_drop(it->last);
    it->last = NULL;
}

int aclrtResetEvent(void *event, void *stream) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    GET_STREAM(stream);
    REFUSE_UNLESS(!it->extended, RT_PARAM_INVALID, "aclrtResetEvent: not for events of aclrtCreateEventExWithFlag");
    sim_job *job = sim_job_new("aclrtResetEvent", NULL);
    job->data = it;
    job->release = release_reset;
    LEAVE(sim_enqueue(at, job));
}

/* One that was never recorded is complete if it is an extended one. */
static bool is_complete(const sim_event *event) {
    if (!event->last) return event->extended;
    if (event->last->done) sim_host_knows(&event->last->clock);
    return event->last->done;
}

int aclrtQueryEventStatus(void *event, int32_t *status) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    NOT_NULL(status);
    *status = is_complete(it) ? RECORDED_COMPLETE : RECORDED_NOT_READY;
    LEAVE(0);
}

int aclrtQueryEvent(void *event, int32_t *status) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    NOT_NULL(status);
    REFUSE_UNLESS(!it->extended, RT_PARAM_INVALID, "aclrtQueryEvent: not for events of aclrtCreateEventExWithFlag");
    *status = is_complete(it) ? COMPLETE_0 : NOT_READY_1;
    LEAVE(0);
}

int aclrtQueryEventWaitStatus(void *event, int32_t *status) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    NOT_NULL(status);
    REFUSE_UNLESS(!it->extended, RT_PARAM_INVALID, "aclrtQueryEventWaitStatus: not for events of aclrtCreateEventExWithFlag");
    *status = is_complete(it) ? COMPLETE_0 : NOT_READY_1;
    LEAVE(0);
}

static int wait_for(sim_event *event, int milliseconds) {
    sim_record *record = event->last;
    if (!record) return 0;
    record->references++;
    struct timespec deadline = sim_deadline(milliseconds < 0 ? 0 : milliseconds);
    int expired = 0;
    while (!record->done && !expired)
        expired = milliseconds < 0 ? pthread_cond_wait(&sim_changed, &sim_mutex)
                                   : pthread_cond_timedwait(&sim_changed, &sim_mutex, &deadline);
    if (!expired) sim_host_knows(&record->clock);
    sim_record_drop(record);
    return expired ? sim_fail(RT_EVENT_SYNC_TIMEOUT, "the event was not complete after %d ms", milliseconds) : 0;
}

int aclrtSynchronizeEvent(void *event) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    sim_synchronizations++;
    LEAVE(wait_for(it, -1));
}

int aclrtSynchronizeEventWithTimeout(void *event, int32_t milliseconds) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(event, it);
    sim_synchronizations++;
    LEAVE(wait_for(it, milliseconds));
}

int aclrtEventElapsedTime(float *milliseconds, void *start, void *end) {
    ENTER(NEEDS_CONTEXT);
    GET_EVENT(start, first);
    GET_EVENT(end, second);
    NOT_NULL(milliseconds);
    bool timed = (first->flags & TIME_LINE) && (second->flags & TIME_LINE);
    bool recorded = first->last && second->last && first->last->done && second->last->done;
    REFUSE_UNLESS(timed && recorded, RT_TIMESTAMP_INVALID, "an event without a time");
    REFUSE_UNLESS(first->last->time <= second->last->time, RT_TIMESTAMP_REVERSED, "the second event came first");
    *milliseconds = second->last->time - first->last->time;
    LEAVE(0);
}
