/* Memory that the processes of a communicator share, and what they do in it. None of this takes the lock. */
#ifndef NPU_SIMULATOR_EXCHANGE_H
#define NPU_SIMULATOR_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_RANKS 16

enum { /* HcclResult */
    HCCL_SUCCESS, HCCL_E_PARA, HCCL_E_PTR, HCCL_E_MEMORY, HCCL_E_INTERNAL, HCCL_E_NOT_SUPPORT, HCCL_E_NOT_FOUND,
    HCCL_E_UNAVAIL, HCCL_E_SYSCALL, HCCL_E_TIMEOUT, HCCL_E_RUNTIME = 15, HCCL_E_AGAIN = 20, HCCL_E_REMOTE = 21
};
enum { SUM, PROD, MAX, MIN, REDUCTIONS };

typedef struct exchange exchange;

/* Whether to go on waiting for the others, and since when. */
typedef struct { bool (*is_wanted)(void *data); void *data; double seconds; } patience;

/* A path by which other processes find the memory, as long as this one lives; false when there is none. */
bool exchange_publish(char *path, size_t room, int *file);
/* Waits for all of them to come; a code. */
int exchange_join(exchange **made, const char *path, int rank, int ranks, patience wait);
void exchange_leave(exchange *it);
int exchange_ranks(const exchange *it);
/* The path of a part of the processes: `mine` is the publisher's, others ask with NULL until it is there. */
int exchange_part(exchange *it, uint64_t number, const char *mine, char *path, size_t room, patience wait);
bool exchange_all_live(const exchange *it);

/* What a rank is about to do: all must say the same. */
typedef struct { char name[24]; uint64_t count; int32_t dtype, op; uint32_t root; } announcement;

typedef struct {
    exchange *in;
    announcement what;
    const char *send;
    char *receive;                       /* NULL where a rank gets nothing */
    uint64_t item;                       /* bytes of an element */
    uint64_t kept_from, kept;            /* the elements of a reduction that `receive` gets; all, if `kept` is 0 */
    uint64_t sent[MAX_RANKS], sent_at[MAX_RANKS], taken[MAX_RANKS], taken_at[MAX_RANKS]; /* elements, by peer */
    patience wait;
    char difference[200];                /* what the ranks did not agree on */
} exchanging;

/* Codes: 0, HCCL_E_TIMEOUT when the patience is over, HCCL_E_PARA with a difference. */
int exchange_reduce(exchanging *it);     /* of `what.count` elements, to `receive` */
int exchange_parts(exchanging *it);      /* from each rank to each, as the tables say */

typedef struct { bool receives; char *memory; uint64_t bytes; uint32_t peer; uint64_t done; bool over; } message;
int exchange_messages(exchange *in, message *all, int count, patience wait);

#endif
