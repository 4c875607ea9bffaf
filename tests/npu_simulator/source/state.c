/* Handles, calls, messages, injected errors, statistics: everything that is neither memory nor a stream. */
#define _GNU_SOURCE
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t sim_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sim_changed;
bool sim_initialized, sim_forked, sim_logging, sim_journaling;
int64_t sim_launches, sim_synchronizations, sim_unpinned_copies;
sim_evaluator sim_evaluate;
__thread char sim_explanation[600];
__thread sim_context *sim_current;

/* -------------------- handles -------------------- */

#define SLOT 640
#define SLOTS 400000
static char *region;
static uint32_t *queue; /* of free slots: the one that was freed first is used first */
static uint32_t queue_begin, queue_length, never_used;
static int64_t live[H_KINDS];
static uint64_t generations;
_Static_assert(sizeof(sim_stream) <= SLOT, "a stream does not fit a slot");
_Static_assert(sizeof(sim_arg) + 64 <= SLOT, "a descriptor does not fit a slot");

static void after_fork(void) {
    sim_forked = true; /* the threads of the streams are not here */
    pthread_mutex_init(&sim_mutex, NULL);
}

__attribute__((constructor)) static void load(void) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sim_changed, &clock);
    pthread_atfork(NULL, NULL, after_fork);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    region = mmap(NULL, (size_t)SLOT * SLOTS, PROT_READ | PROT_WRITE, flags, -1, 0);
    queue = mmap(NULL, sizeof(uint32_t) * SLOTS, PROT_READ | PROT_WRITE, flags, -1, 0);
    sim_configure();
}

/* The slots that were given back wait until this many do, so that handles that are out of date stay known. */
#define QUARANTINE 10000

void *sim_new(int kind) {
    uint32_t slot;
    if (queue_length > QUARANTINE) {
        slot = queue[queue_begin];
        queue_begin = (queue_begin + 1) % SLOTS;
        queue_length--;
    } else if (never_used < SLOTS) {
        slot = never_used++;
    } else {
        return NULL;
    }
    sim_header *handle = (sim_header *)(region + (size_t)slot * SLOT);
    memset(handle, 0, SLOT);
    handle->kind = kind;
    handle->generation = ++generations;
    live[kind]++;
    return handle;
}

void sim_delete(void *handle) {
    sim_header *header = handle;
    live[header->kind]--;
    header->kind = H_FREE;
    queue[(queue_begin + queue_length++) % SLOTS] = ((char *)handle - region) / SLOT;
}

/* Descriptors, executors, events and contexts that were left; what they point to stays allocated. */
void sim_delete_all(void) {
    for (uint32_t slot = 0; slot < never_used; slot++) {
        sim_header *header = (sim_header *)(region + (size_t)slot * SLOT);
        if (header->kind != H_FREE) sim_delete(header);
    }
}

bool sim_was(const void *handle) {
    uintptr_t distance = (uintptr_t)handle - (uintptr_t)region;
    return (uintptr_t)handle >= (uintptr_t)region && distance < (size_t)never_used * SLOT && distance % SLOT == 0;
}

bool sim_is(const void *handle, int kind) { return sim_was(handle) && ((const sim_header *)handle)->kind == (uint32_t)kind; }

int64_t sim_live(int kind) { return live[kind]; }

/* -------------------- messages -------------------- */

static __thread char messages[4000], given[4000];
static __thread int last_error;
static char *violations;
static int64_t violation_count;

int sim_fail(int code, const char *format, ...) {
    char text[1000], before[sizeof messages];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    strcpy(before, messages); /* the newest stands on top */
    const char *mark = code >= 500000 ? "EZ9999" : code == RT_MEMORY_ALLOCATION ? "EL0004" : "EE1001";
    snprintf(messages, sizeof messages, "%s: [PID: %d] %s (%d)\n%.2800s", mark, getpid(), text, code, before);
    return code;
}

const char *sim_recent_messages(void) {
    strcpy(given, messages);
    messages[0] = 0;
    return given[0] ? given : NULL;
}

int sim_last_error(bool clear) {
    int code = last_error;
    if (clear) last_error = 0;
    return code;
}

void sim_violation(const char *format, ...) {
    char text[400];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    size_t length = violations ? strlen(violations) : 0;
    violation_count++;
    if (length > 100000) return;
    violations = realloc(violations, length + strlen(text) + 2);
    sprintf(violations + length, "%s\n", text);
}

/* -------------------- injected errors and delays -------------------- */

typedef struct rule { char name[100]; int nth, code, phase, hits; bool used; struct rule *next; } rule;
static rule *rules;
typedef struct delay { char name[100]; unsigned microseconds; struct delay *next; } delay;
static delay *delays;

static bool matches(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (length && pattern[length - 1] == '*') return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

int sim_injected(const char *name, int phase) {
    for (rule *each = rules; each; each = each->next)
        if (each->phase == phase && matches(each->name, name) && ++each->hits == each->nth) {
            each->used = true;
            return each->code;
        }
    return 0;
}

void sim_inject(const char *name, int nth, int code, int phase) {
    rule *each = calloc(1, sizeof *each);
    snprintf(each->name, sizeof each->name, "%s", name);
    each->nth = nth, each->code = code, each->phase = phase;
    pthread_mutex_lock(&sim_mutex);
    each->next = rules, rules = each;
    pthread_mutex_unlock(&sim_mutex);
}

/* Forgets all rules; how many of them came to pass. */
int sim_clear_injections(void) {
    int used = 0;
    pthread_mutex_lock(&sim_mutex);
    while (rules) {
        rule *each = rules;
        used += each->used;
        rules = each->next;
        free(each);
    }
    pthread_mutex_unlock(&sim_mutex);
    return used;
}

void sim_set_delay(const char *name, unsigned microseconds) {
    delay *each = calloc(1, sizeof *each);
    snprintf(each->name, sizeof each->name, "%s", name);
    each->microseconds = microseconds;
    pthread_mutex_lock(&sim_mutex);
    each->next = delays, delays = each;
    pthread_mutex_unlock(&sim_mutex);
}

void sim_clear_delays(void) {
    pthread_mutex_lock(&sim_mutex);
    while (delays) {
        delay *each = delays;
        delays = each->next;
        free(each);
    }
    pthread_mutex_unlock(&sim_mutex);
}

unsigned sim_delay_of(const char *name) {
    for (delay *each = delays; each; each = each->next)
        if (matches(each->name, name)) return each->microseconds;
    return 0;
}

/* -------------------- calls -------------------- */

static sim_site *sites;

static int refused(sim_site *site) {
    if (sim_forked) return sim_fail(RT_DRV_INTERNAL, "%s: the process was forked after initialization", site->name);
    if ((site->needs & NEEDS_INIT) && !sim_initialized) return sim_fail(UNINITIALIZE, "%s: aclInit was not called", site->name);
    if (site->needs == NEEDS_CONTEXT && !sim_here())
        return sim_fail(RT_CONTEXT_NULL, "%s: the thread has no context; call aclrtSetDevice in it", site->name);
    int code = sim_injected(site->name, 2);
    return code ? sim_fail(code, "%s: injected", site->name) : 0;
}

int sim_enter(sim_site *site) {
    pthread_mutex_lock(&sim_mutex);
    if (!site->calls++) site->next = sites, sites = site;
    if (sim_journaling) sim_log("%s\n", site->name);
    int code = refused(site);
    return code ? sim_leave(code) : 0;
}

int sim_leave(int code) {
    pthread_mutex_unlock(&sim_mutex);
    if (code) last_error = code;
    return code;
}

int64_t sim_calls(const char *name) {
    int64_t calls = 0;
    pthread_mutex_lock(&sim_mutex);
    for (sim_site *each = sites; each; each = each->next)
        if (matches(name, each->name)) calls += each->calls;
    pthread_mutex_unlock(&sim_mutex);
    return calls;
}

double sim_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

struct timespec sim_deadline(int milliseconds) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += milliseconds % 1000 * 1000000L;
    at.tv_sec += milliseconds / 1000 + at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

/* -------------------- for the tests -------------------- */

static char *log_text;
static size_t log_length, log_room;

void sim_log(const char *format, ...) {
    if (log_room < log_length + 4096) log_text = realloc(log_text, log_room = 2 * log_room + 8192);
    va_list values;
    va_start(values, format);
    int length = vsnprintf(log_text + log_length, 4000, format, values);
    va_end(values);
    log_length += length < 4000 ? length : 3999;
}

/* `journal`: the names of all calls, instead of launches with their arguments. */
void sim_start_log(int journal) {
    pthread_mutex_lock(&sim_mutex);
    sim_logging = !journal, sim_journaling = journal, log_length = 0;
    pthread_mutex_unlock(&sim_mutex);
}

/* The text of the log, or its length if there is no room for it. */
size_t sim_read_log(char *text, size_t room) {
    pthread_mutex_lock(&sim_mutex);
    size_t length = log_length;
    if (room > length) {
        if (length) memcpy(text, log_text, length);
        text[length] = 0;
    }
    pthread_mutex_unlock(&sim_mutex);
    return length;
}

void sim_stop_log(void) { sim_logging = sim_journaling = false; }

/* The same for violations; reading forgets them. */
size_t sim_read_violations(char *text, size_t room) {
    pthread_mutex_lock(&sim_mutex);
    size_t length = violations ? strlen(violations) : 0;
    if (room > length) {
        strcpy(text, violations ? violations : "");
        free(violations);
        violations = NULL, violation_count = 0;
    }
    pthread_mutex_unlock(&sim_mutex);
    return length;
}

static int64_t bytes_in_use(void) {
    int64_t bytes = 0;
    for (int i = 0; i < sim_device_count; i++) bytes += sim_devices[i].used;
    return bytes;
}

static int64_t blocks_in_use(void) {
    int64_t blocks = 0;
    for (int i = 0; i < sim_device_count; i++) blocks += sim_devices[i].count;
    return blocks;
}

static int64_t default_streams(void) {
    int64_t found = 0;
    for (int i = 0; i < sim_device_count; i++) found += sim_devices[i].context && sim_devices[i].context->stream;
    return found;
}

static int64_t default_contexts(void) {
    int64_t found = 0;
    for (int i = 0; i < sim_device_count; i++) found += sim_devices[i].context != NULL;
    return found;
}

/* In the order of STATISTICS in device.py. What a device has by itself is not counted. */
void sim_statistics(int64_t *values) {
    pthread_mutex_lock(&sim_mutex);
    int64_t now[] = {
        live[H_TENSOR], live[H_SCALAR], live[H_INTS] + live[H_FLOATS] + live[H_BOOLS], live[H_TENSORS] + live[H_SCALARS],
        live[H_EXECUTOR], live[H_STREAM] - default_streams(), live[H_EVENT], live[H_CONTEXT] - default_contexts(),
        live[H_COMMUNICATOR], blocks_in_use(), sim_host_blocks(), bytes_in_use(), sim_launches, sim_synchronizations, sim_unpinned_copies,
        violation_count,
    };
    memcpy(values, now, sizeof now);
    pthread_mutex_unlock(&sim_mutex);
}

void sim_set_evaluator(sim_evaluator evaluator) { sim_evaluate = evaluator; }

void sim_explain(const char *text) { snprintf(sim_explanation, sizeof sim_explanation, "%s", text); }
