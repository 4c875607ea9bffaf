/* What comes before what: each stream has a clock of all streams, which events and waits of the host hand on. Two uses of
 * the same memory, one of them a write, must be ordered. By good luck they often are in fact: here it is noted anyway. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct { sim_range range; int stream; int64_t tick; bool writes; const char *name; } access_;

static sim_clock host;
static int64_t ticks[CLOCKS];
static bool taken[CLOCKS];
static access_ *accesses;
static int count, room;

void sim_clock_join(sim_clock *clock, const sim_clock *other) {
    for (int i = 0; i < CLOCKS; i++)
        if (clock->at[i] < other->at[i]) clock->at[i] = other->at[i];
}

/* The number of a stream among the clocks; with too many streams, -1: not looked at. */
int sim_clock_new(void) {
    for (int i = 0; i < CLOCKS; i++)
        if (!taken[i]) return taken[i] = true, i;
    return -1;
}

/* A stream that goes has been waited for. */
void sim_clock_delete(sim_stream *stream) {
    sim_clock_join(&host, stream->clock);
    if (stream->number >= 0) taken[stream->number] = false;
    free(stream->clock);
}

void sim_host_knows(const sim_clock *clock) { sim_clock_join(&host, clock); }

/* A job begins after all that the host and the stream have waited for. */
void sim_clock_tick(sim_stream *stream) {
    sim_clock_join(stream->clock, &host);
    if (stream->number >= 0) stream->clock->at[stream->number] = ++ticks[stream->number];
}

static bool overlaps(sim_range one, sim_range other) { return one.begin < other.end && other.begin < one.end; }

static bool covers(sim_range one, sim_range other) { return one.begin <= other.begin && other.end <= one.end; }

/* Nothing more can be in conflict with it: the host has waited, or a later use on the same stream says as much. */
static bool is_over(const access_ *old, const access_ *new) {
    if (host.at[old->stream] >= old->tick) return true;
    return new && old->stream == new->stream && covers(new->range, old->range) && (new->writes || !old->writes);
}

static void look(const access_ *new, const sim_clock *clock) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        access_ *old = &accesses[i];
        bool ordered = new->stream == old->stream || clock->at[old->stream] >= old->tick;
        if (!ordered && (new->writes || old->writes) && overlaps(new->range, old->range))
            sim_violation("%s and %s use the same memory%s, and nothing orders them", old->name, new->name,
                          new->stream < 0 ? "" : " on two streams");
        if (!is_over(old, new->stream < 0 ? NULL : new)) accesses[kept++] = *old;
    }
    count = kept;
}

/* A job's use of memory. */
void sim_used(const sim_stream *stream, const sim_job *job) {
    if (stream->number < 0) return;
    for (int i = 0; i < job->range_count; i++) {
        sim_range range = job->ranges[i];
        access_ new = {range, stream->number, stream->clock->at[stream->number], range.writes, job->name};
        look(&new, stream->clock);
        if (count == room) accesses = realloc(accesses, (room = 2 * room + 64) * sizeof *accesses);
        accesses[count++] = new;
    }
}

/* The host's own, by a call that waits for no stream. */
void sim_used_by_host(const void *address, size_t size, bool writes, const char *name) {
    access_ new = {{(uintptr_t)address, (uintptr_t)address + size, writes}, -1, 0, writes, name};
    look(&new, &host);
}

/* Memory that is given back. */
void sim_forget_memory(const void *address, size_t size) {
    sim_range range = {(uintptr_t)address, (uintptr_t)address + size, true};
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!overlaps(range, accesses[i].range)) accesses[kept++] = accesses[i];
    count = kept;
}
