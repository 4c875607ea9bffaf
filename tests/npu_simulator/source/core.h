/* What the libraries of the simulated device share. One lock guards everything; jobs run without it. */
#ifndef NPU_SIMULATOR_CORE_H
#define NPU_SIMULATOR_CORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    INVALID_PARAM = 100000, UNINITIALIZE = 100001, REPEAT_INITIALIZE = 100002, REPEAT_FINALIZE = 100037,
    RT_PARAM_INVALID = 107000, RT_INVALID_DEVICEID = 107001, RT_CONTEXT_NULL = 107002, RT_STREAM_CONTEXT = 107003,
    RT_TIMESTAMP_INVALID = 107006, RT_TIMESTAMP_REVERSED = 107007, RT_INVALID_HANDLE = 107017,
    RT_DEVICE_TASK_ABORT = 107022, RT_STREAM_ABORT = 107023,
    PARAM_NULLPTR = 161001, PARAM_INVALID = 161002,
    RT_FEATURE_NOT_SUPPORT = 207000, RT_MEMORY_ALLOCATION = 207001, RT_NO_STREAM = 207008,
    RT_STREAM_SYNC_TIMEOUT = 507046, RT_EVENT_SYNC_TIMEOUT = 507047, RT_INTERNAL = 507000, RT_AICORE_EXCEPTION = 507015,
    RT_DRV_INTERNAL = 507899,
    INNER = 561000, FIND_KERNEL = 561003, NOT_TRANS_EXECUTOR = 561102, INNER_NULLPTR = 561103,
};

/* -------------------- handles: slots of one size in a region of their own, so that any pointer can be judged ------ */

enum {
    H_FREE, H_TENSOR, H_SCALAR, H_INTS, H_FLOATS, H_BOOLS, H_TENSORS, H_SCALARS, H_EXECUTOR, H_STREAM, H_EVENT, H_CONTEXT,
    H_COMMUNICATOR, H_KINDS
};

typedef struct { uint32_t kind, reserved; uint64_t generation; } sim_header;

void *sim_new(int kind);              /* NULL when there are no more; all zero but for the header */
void sim_delete(void *handle);        /* the slot is used again as late as possible */
void sim_delete_all(void);
bool sim_is(const void *handle, int kind);
bool sim_was(const void *handle);     /* a slot of ours, whatever is in it now */
int64_t sim_live(int kind);

/* -------------------- calls -------------------- */

enum { NEEDS_INIT = 1, NEEDS_CONTEXT = 3 };

typedef struct sim_site { const char *name; int needs; int64_t calls; struct sim_site *next; } sim_site;

int sim_enter(sim_site *site);                 /* takes the lock; on failure returns the code without it */
int sim_leave(int code);                       /* gives the lock back */
int sim_fail(int code, const char *format, ...); /* notes the message for aclGetRecentErrMsg; returns the code */
int sim_injected(const char *name, int phase); /* 0 or a code; phase: 0 GetWorkspaceSize, 2 call or launch, 1 later */
void sim_violation(const char *format, ...);   /* what a real device would punish later, or in silence */
const char *sim_recent_messages(void);
int sim_last_error(bool clear);

/* With the caller's own name, so that calls are counted and refused by it. */
#define ENTER(needs)                                        \
    static sim_site site_ = {__func__, needs, 0, NULL};     \
    int entered_ = sim_enter(&site_);                       \
    if (entered_) return entered_
#define LEAVE(code) return sim_leave(code)
#define REFUSE_UNLESS(condition, code, ...) \
    if (!(condition)) return sim_leave(sim_fail(code, __VA_ARGS__))

extern pthread_mutex_t sim_mutex;
extern pthread_cond_t sim_changed;             /* anything happened */
extern bool sim_initialized, sim_forked;
double sim_now(void);                          /* milliseconds */
struct timespec sim_deadline(int milliseconds);

/* -------------------- devices and their memory -------------------- */

#define MAX_DEVICES 8
typedef struct { uintptr_t address; size_t size, asked; } sim_block;
struct sim_context;
typedef struct {
    uintptr_t base;                  /* PROT_NONE: the addresses that are handed out */
    char *alias;                     /* the same memory, for the simulator alone */
    size_t capacity, limit, used;
    uintptr_t next;                  /* where the search for room begins, so that addresses come again late */
    sim_block *blocks;               /* by address */
    int count, room, references;
    unsigned peers;
    struct sim_context *context;     /* the default one */
} sim_device;

extern sim_device sim_devices[MAX_DEVICES];
extern int sim_device_count;
void sim_configure(void);
int sim_visible_devices(int *numbers);         /* ASCEND_RT_VISIBLE_DEVICES */
sim_device *sim_device_at(int logical);
sim_device *sim_device_here(void);             /* of the thread's context, which there must be */
sim_device *sim_device_of(const void *address);
sim_block *sim_block_of(const void *address);  /* the block that an address lies in, or NULL */
char *sim_alias(const void *address);
void *sim_allocate(sim_device *device, size_t size, size_t alignment);
int sim_release(void *address);
void *sim_host_allocate(size_t size);
int sim_host_release(void *address);
bool sim_is_pinned(const void *address, size_t size);
int64_t sim_host_blocks(void);
void sim_release_everything(void);

/* -------------------- contexts, streams, events -------------------- */

struct sim_stream;
typedef struct sim_context { sim_header header; int device; bool is_default; struct sim_stream *stream; } sim_context;
extern __thread sim_context *sim_current;
sim_context *sim_context_new(int device);
void sim_context_delete(sim_context *context);
sim_context *sim_here(void);                   /* the thread's context, or NULL */

#define CLOCKS 128
typedef struct { int64_t at[CLOCKS]; } sim_clock;
typedef struct { int references; bool done; double time; sim_clock clock; } sim_record;
typedef struct { sim_header header; uint32_t flags; bool extended; sim_record *last; } sim_event;
void sim_record_drop(sim_record *record);

typedef struct { uintptr_t begin, end; bool writes; } sim_range;
typedef struct sim_job {
    struct sim_job *next;
    const char *name;
    int (*run)(struct sim_job *);              /* without the lock; a code */
    void (*release)(struct sim_job *);         /* with the lock; also for jobs that were dropped */
    void *data;
    sim_record *awaits, *records;
    int injected, range_count;
    sim_range *ranges;                         /* memory that it uses */
} sim_job;

typedef struct sim_stream {
    sim_header header;
    sim_context *context;
    pthread_t thread;
    sim_job *first, *last;
    int64_t queued, done;                      /* jobs so far */
    int id, error, aborts, abort_code, mode;   /* error: the first one, until the device is reset */
    bool running, paused, closing;
    int number;                                /* of its clock */
    sim_clock *clock;
    char error_text[160];
    struct sim_stream *next_stream;
} sim_stream;

extern sim_stream *sim_streams;
sim_stream *sim_stream_new(sim_context *context);
void sim_stream_delete(sim_stream *stream, bool force); /* gives the lock back meanwhile */
sim_stream *sim_stream_get(void *handle, int *code);    /* NULL is the default stream of the context */
int sim_enqueue(sim_stream *stream, sim_job *job);
sim_job *sim_job_new(const char *name, int (*run)(sim_job *));
void sim_job_uses(sim_job *job, const void *address, size_t size, bool writes);
int sim_wait(sim_stream *stream, int milliseconds);     /* -1: as long as it takes */
void sim_abort(sim_stream *stream, int code);
sim_job *sim_job_using(uintptr_t begin, uintptr_t end);

int sim_clock_new(void);
void sim_clock_delete(sim_stream *stream);
void sim_clock_join(sim_clock *clock, const sim_clock *other);
void sim_clock_tick(sim_stream *stream);
void sim_host_knows(const sim_clock *clock);
void sim_used(const sim_stream *stream, const sim_job *job);
void sim_used_by_host(const void *address, size_t size, bool writes, const char *name);
void sim_forget_memory(const void *address, size_t size);

/* -------------------- arguments of an op, as the evaluators see them -------------------- */

#define MAX_RANK 8
typedef struct sim_arg {
    int32_t kind, dtype, format, rank;         /* rank -1: a null handle */
    int64_t dims[MAX_RANK], strides[MAX_RANK], offset, storage, bytes;
    void *address, *alias;                     /* of the storage's first element */
    int64_t integer;
    double real, imaginary;
    int64_t count;
    void *items;                               /* sim_arg*, int64_t*, float*, bool* or char*; ours */
    void *handle;
    uint64_t generation;
    int64_t written;                           /* by the evaluator, which knows */
} sim_arg;

typedef union { const void *p; int64_t i; uint64_t u; double d; } sim_value;
typedef struct sim_op { const char *name, *kinds; int64_t launches; uint64_t writes; sim_site site; } sim_op;

int sim_phase1(sim_op *op, const sim_value *values, uint64_t *workspace_size, void **executor);
int sim_phase2(sim_op *op, void *workspace, uint64_t size, void *executor, void *stream);

/* phase 0: would it be done? 1: do it. Returns a code; says why by sim_explain. */
typedef int32_t (*sim_evaluator)(int32_t phase, const char *op, int32_t count, sim_arg *args);
extern sim_evaluator sim_evaluate;
extern __thread char sim_explanation[600];

extern bool sim_logging, sim_journaling;
void sim_log(const char *format, ...);
extern int64_t sim_launches, sim_synchronizations, sim_unpinned_copies, sim_seed;
unsigned sim_delay_of(const char *name);
extern int sim_stream_limit;

#endif
