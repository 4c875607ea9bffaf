/* Streams: threads that work off their queues in order, whenever they come to it. Contexts. */
#define _GNU_SOURCE
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

sim_stream *sim_streams;
int64_t sim_seed;
int sim_stream_limit = 1984;
static int next_id;
static uint64_t random_state;
static sim_stream *chosen; /* with a seed, one stream at a time runs, and this one is next */

/* -------------------- jobs -------------------- */

sim_job *sim_job_new(const char *name, int (*run)(sim_job *)) {
    sim_job *job = calloc(1, sizeof *job);
    job->name = name;
    job->run = run;
    job->injected = sim_injected(name, 1);
    return job;
}

void sim_job_uses(sim_job *job, const void *address, size_t size, bool writes) {
    if (!size || !address) return;
    job->ranges = realloc(job->ranges, (job->range_count + 1) * sizeof *job->ranges);
    job->ranges[job->range_count++] = (sim_range){(uintptr_t)address, (uintptr_t)address + size, writes};
}

void sim_record_drop(sim_record *record) {
    if (record && !--record->references) free(record);
}

static void finish(sim_job *job) {
    if (job->records) {
        job->records->done = true;
        job->records->time = sim_now();
    }
    sim_record_drop(job->records);
    sim_record_drop(job->awaits);
    if (job->release) job->release(job);
    free(job->ranges);
    free(job);
}

static void drop_all(sim_stream *stream) {
    while (stream->first) {
        sim_job *job = stream->first;
        stream->first = job->next;
        stream->done++;
        finish(job);
    }
    stream->last = NULL;
}

sim_job *sim_job_using(uintptr_t begin, uintptr_t end) {
    for (sim_stream *stream = sim_streams; stream; stream = stream->next_stream)
        for (sim_job *job = stream->first; job; job = job->next)
            for (int i = 0; i < job->range_count; i++)
                if (job->ranges[i].begin < end && begin < job->ranges[i].end) return job;
    return NULL;
}

/* -------------------- the thread of a stream -------------------- */

static bool is_ready(const sim_stream *stream) {
    if (!stream->first || stream->paused || stream->running) return false;
    return !stream->first->awaits || stream->first->awaits->done;
}

static uint64_t next_random(void) { /* xorshift */
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return random_state;
}

/* Whose turn it is when a seed decides: one of those that are ready, in the order of their numbers. */
static sim_stream *choose(void) {
    int ready = 0;
    for (sim_stream *each = sim_streams; each; each = each->next_stream) {
        if (each->running) return NULL;
        ready += is_ready(each);
    }
    if (!ready) return NULL;
    int turn = next_random() % ready;
    for (sim_stream *each = sim_streams; each; each = each->next_stream)
        if (is_ready(each) && !turn--) return each;
    return NULL;
}

static bool may_run(sim_stream *stream) {
    if (!is_ready(stream)) return false;
    if (!sim_seed) return true;
    if (!chosen || !is_ready(chosen)) {
        chosen = choose();
        pthread_cond_broadcast(&sim_changed);
    }
    return chosen == stream;
}

static int run(sim_job *job) {
    unsigned delay = sim_delay_of(job->name);
    pthread_mutex_unlock(&sim_mutex);
    if (delay) usleep(delay);
    sim_explanation[0] = 0;
    int code = job->injected ? job->injected : job->run ? job->run(job) : 0;
    pthread_mutex_lock(&sim_mutex);
    return code;
}

static void note_failure(sim_stream *stream, const sim_job *job, int code) {
    if (!code) return;
    if (!stream->error) {
        stream->error = code;
        snprintf(stream->error_text, sizeof stream->error_text, "%s failed on stream %d: %.90s", job->name, stream->id,
                 job->injected ? "injected" : sim_explanation);
    }
}

static void *work(void *argument) {
    sim_stream *stream = argument;
    pthread_mutex_lock(&sim_mutex);
    while (true) {
        while (!may_run(stream) && !(stream->closing && !stream->first)) pthread_cond_wait(&sim_changed, &sim_mutex);
        if (!stream->first) break;
        sim_job *job = stream->first;
        stream->running = true;
        int code = run(job); /* it stays at the head meanwhile: its memory is in use */
        note_failure(stream, job, code);
        stream->running = false;
        chosen = NULL;
        stream->first = job->next;
        if (!stream->first) stream->last = NULL;
        stream->done++;
        finish(job);
        if (stream->error && stream->mode == 1) drop_all(stream);
        pthread_cond_broadcast(&sim_changed);
    }
    pthread_mutex_unlock(&sim_mutex);
    return NULL;
}

/* -------------------- streams -------------------- */

sim_stream *sim_stream_new(sim_context *context) {
    sim_stream *stream = sim_live(H_STREAM) < sim_stream_limit ? sim_new(H_STREAM) : NULL;
    if (!stream) return NULL;
    stream->context = context;
    stream->id = ++next_id;
    if (pthread_create(&stream->thread, NULL, work, stream)) return sim_delete(stream), NULL;
    stream->number = sim_clock_new();
    stream->clock = calloc(1, sizeof *stream->clock);
    sim_stream **end = &sim_streams; /* in the order of their numbers */
    while (*end) end = &(*end)->next_stream;
    *end = stream;
    return stream;
}

void sim_abort(sim_stream *stream, int code) {
    sim_job *head = stream->running ? stream->first : NULL; /* what has begun comes to its end */
    if (head) {
        stream->first = head->next;
        drop_all(stream);
        head->next = NULL;
        stream->first = stream->last = head;
    } else {
        drop_all(stream);
    }
    stream->aborts++;
    stream->abort_code = code;
    sim_host_knows(stream->clock);
    pthread_cond_broadcast(&sim_changed);
}

void sim_stream_delete(sim_stream *stream, bool force) {
    if (force) sim_abort(stream, RT_STREAM_ABORT);
    stream->paused = false;
    stream->closing = true;
    pthread_cond_broadcast(&sim_changed);
    pthread_mutex_unlock(&sim_mutex);
    pthread_join(stream->thread, NULL);
    pthread_mutex_lock(&sim_mutex);
    sim_stream **at = &sim_streams;
    while (*at != stream) at = &(*at)->next_stream;
    *at = stream->next_stream;
    if (chosen == stream) chosen = NULL;
    sim_clock_delete(stream);
    sim_delete(stream);
}

sim_stream *sim_stream_get(void *handle, int *code) {
    *code = 0;
    sim_context *context = sim_here();
    if (!handle) {
        if (!context->stream) context->stream = sim_stream_new(context);
        return context->stream;
    }
    if (!sim_is(handle, H_STREAM)) {
        if (sim_was(handle)) sim_violation("a stream that was destroyed is used");
        *code = sim_fail(RT_INVALID_HANDLE, "%p is no stream", handle);
    } else if (((sim_stream *)handle)->context != context) {
        *code = sim_fail(RT_STREAM_CONTEXT, "the stream is of another context than the thread's");
    }
    return *code ? NULL : handle;
}

static void dispose(sim_job *job) {
    sim_record_drop(job->awaits);
    sim_record_drop(job->records);
    if (job->release) job->release(job);
    free(job->ranges);
    free(job);
}

/* Takes the job, whatever comes of it. */
int sim_enqueue(sim_stream *stream, sim_job *job) {
    if (stream->error && stream->mode == 1) {
        dispose(job);
        return sim_fail(stream->error, "%s", stream->error_text);
    }
    if (job->awaits) sim_clock_join(stream->clock, &job->awaits->clock);
    sim_clock_tick(stream);
    if (job->records) job->records->clock = *stream->clock;
    sim_used(stream, job);
    *(stream->last ? &stream->last->next : &stream->first) = job;
    stream->last = job;
    stream->queued++;
    pthread_cond_broadcast(&sim_changed);
    return 0;
}

int sim_wait(sim_stream *stream, int milliseconds) {
    int64_t target = stream->queued;
    int aborts = stream->aborts;
    sim_clock reached = *stream->clock;
    struct timespec deadline = sim_deadline(milliseconds < 0 ? 0 : milliseconds);
    while (stream->done < target && stream->aborts == aborts) {
        if (milliseconds < 0) pthread_cond_wait(&sim_changed, &sim_mutex);
        else if (pthread_cond_timedwait(&sim_changed, &sim_mutex, &deadline))
            return sim_fail(RT_STREAM_SYNC_TIMEOUT, "stream %d was not done after %d ms", stream->id, milliseconds);
    }
    if (stream->aborts != aborts) return sim_fail(stream->abort_code, "stream %d was aborted", stream->id);
    sim_host_knows(&reached);
    return stream->error ? sim_fail(stream->error, "%s", stream->error_text) : 0;
}

/* -------------------- contexts -------------------- */

sim_context *sim_here(void) { return sim_is(sim_current, H_CONTEXT) ? sim_current : NULL; }

sim_context *sim_context_new(int device) {
    sim_context *context = sim_new(H_CONTEXT);
    if (context) context->device = device;
    return context;
}

void sim_context_delete(sim_context *context) {
    sim_stream *stream = context->stream;
    context->stream = NULL;
    if (stream) sim_stream_delete(stream, false);
    sim_delete(context);
}

/* -------------------- for the tests -------------------- */

static sim_stream *any_stream(void *handle) {
    int code;
    return handle || sim_here() ? sim_stream_get(handle, &code) : NULL;
}

int sim_pause(void *handle, int paused) {
    pthread_mutex_lock(&sim_mutex);
    sim_stream *stream = sim_is(handle, H_STREAM) ? handle : any_stream(handle);
    if (stream) stream->paused = paused;
    pthread_cond_broadcast(&sim_changed);
    pthread_mutex_unlock(&sim_mutex);
    return stream ? 0 : -1;
}

void sim_pause_all(int paused) {
    pthread_mutex_lock(&sim_mutex);
    for (sim_stream *each = sim_streams; each; each = each->next_stream) each->paused = paused;
    pthread_cond_broadcast(&sim_changed);
    pthread_mutex_unlock(&sim_mutex);
}

void sim_schedule(int64_t seed) {
    pthread_mutex_lock(&sim_mutex);
    sim_seed = seed;
    random_state = (uint64_t)seed * 0x9E3779B97F4A7C15u + 1;
    chosen = NULL;
    pthread_cond_broadcast(&sim_changed);
    pthread_mutex_unlock(&sim_mutex);
}

int64_t sim_pending(void *handle) {
    pthread_mutex_lock(&sim_mutex);
    sim_stream *stream = sim_is(handle, H_STREAM) ? handle : any_stream(handle);
    int64_t pending = stream ? stream->queued - stream->done : -1;
    pthread_mutex_unlock(&sim_mutex);
    return pending;
}

void sim_set_stream_limit(int limit) { sim_stream_limit = limit; }

static void settle(int milliseconds) {
    struct timespec deadline = sim_deadline(milliseconds);
    for (sim_stream *each = sim_streams; each; each = each->next_stream)
        while (each->done < each->queued && !pthread_cond_timedwait(&sim_changed, &sim_mutex, &deadline)) {}
}

/* Waits until the streams have nothing more to do. */
void sim_settle(int milliseconds) {
    pthread_mutex_lock(&sim_mutex);
    settle(milliseconds);
    pthread_mutex_unlock(&sim_mutex);
}

/* The same for the end of the interpreter: what is left then is dropped. */
void sim_drain(int milliseconds) {
    if (sim_forked) return;
    pthread_mutex_lock(&sim_mutex);
    for (sim_stream *each = sim_streams; each; each = each->next_stream) each->paused = false;
    pthread_cond_broadcast(&sim_changed);
    settle(milliseconds);
    for (sim_stream *each = sim_streams; each; each = each->next_stream) sim_abort(each, RT_STREAM_ABORT);
    pthread_mutex_unlock(&sim_mutex);
}

/* As if the process were new: no handles, memory or errors. */
void sim_reset(void) {
    pthread_mutex_lock(&sim_mutex);
    for (int i = 0; i < MAX_DEVICES; i++) {
        sim_context *context = sim_devices[i].context;
        sim_devices[i].context = NULL, sim_devices[i].references = 0, sim_devices[i].peers = 0;
        if (context) context->stream = NULL, sim_delete(context);
    }
    while (sim_streams) sim_stream_delete(sim_streams, true);
    sim_release_everything();
    sim_delete_all();
    sim_initialized = false;
    pthread_mutex_unlock(&sim_mutex);
}
