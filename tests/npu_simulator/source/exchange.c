/* libhccl.so, its lower half. The memory is an anonymous file, which other processes open by the path that /proc has for
 * it: nothing is left when they end, however that is. Ranks take turns by counters that only their owners write. */
#define _GNU_SOURCE
#include "exchange.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (1 << 18)
#define MESSAGE (1 << 15)
#define PARTS 64

typedef struct { _Atomic uint64_t sent, taken; uint64_t bytes; char memory[MESSAGE]; } mailbox; /* from one to another */

typedef struct {
    _Atomic int ranks, joined;
    _Atomic uint64_t arrived[MAX_RANKS];
    _Atomic int processes[MAX_RANKS];
    announcement announced[MAX_RANKS];
    struct { _Atomic uint64_t number; char path[64]; } parts[PARTS];
    char chunks[MAX_RANKS][CHUNK];
    mailbox mail[MAX_RANKS][MAX_RANKS];
} shared;

struct exchange { shared *at; int rank, ranks; uint64_t turn; };

/* -------------------- waiting -------------------- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static bool rests(const patience *wait, double since) {
    if (!wait->is_wanted(wait->data) || now() - since > wait->seconds) return false;
    usleep(20);
    return true;
}

/* Until all have come as often as this rank. */
static int meet(exchange *it, const patience *wait) {
    double since = now();
    uint64_t turn = ++it->turn;
    atomic_store(&it->at->arrived[it->rank], turn);
    for (int rank = 0; rank < it->ranks; rank++)
        while (atomic_load(&it->at->arrived[rank]) < turn)
            if (!rests(wait, since)) return HCCL_E_TIMEOUT;
    return 0;
}

/* -------------------- coming and going -------------------- */

bool exchange_publish(char *path, size_t room, int *file) {
    *file = memfd_create("hccl", MFD_CLOEXEC);
    if (*file < 0 || ftruncate(*file, sizeof(shared))) return false;
    snprintf(path, room, "/proc/%d/fd/%d", getpid(), *file);
    return true;
}

static shared *opened(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return NULL;
    shared *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return at == MAP_FAILED ? NULL : at;
}

int exchange_join(exchange **made, const char *path, int rank, int ranks, patience wait) {
    shared *at = opened(path);
    if (!at) return HCCL_E_NOT_FOUND;
    exchange *it = calloc(1, sizeof *it);
    it->at = at, it->rank = rank, it->ranks = ranks;
    int said = 0;
    bool agreed = atomic_compare_exchange_strong(&at->ranks, &said, ranks) || said == ranks;
    int before = 0;
    agreed = agreed && atomic_compare_exchange_strong(&at->processes[rank], &before, getpid());
    int code = agreed ? meet(it, &wait) : HCCL_E_PARA;
    if (code) exchange_leave(it);
    else *made = it;
    return code;
}

void exchange_leave(exchange *it) {
    munmap(it->at, sizeof *it->at);
    free(it);
}

int exchange_ranks(const exchange *it) { return it->ranks; }

/* One that has died and was not waited for yet is there still, as a zombie. */
static bool lives(int process) {
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *end = strrchr(text, ')'); /* of its name; the state follows */
    return end && end[1] && end[2] != 'Z' && end[2] != 'X';
}

bool exchange_all_live(const exchange *it) {
    for (int rank = 0; rank < it->ranks; rank++)
        if (!lives(atomic_load(&it->at->processes[rank]))) return false;
    return true;
}

int exchange_part(exchange *it, uint64_t number, const char *mine, char *path, size_t room, patience wait) {
    double since = now();
    shared *at = it->at;
    for (int place = number % PARTS, tries = 0;; place = (place + 1) % PARTS) {
        uint64_t free_place = 0;
        if (mine && atomic_compare_exchange_strong(&at->parts[place].number, &free_place, UINT64_MAX)) {
            snprintf(at->parts[place].path, sizeof at->parts[place].path, "%s", mine);
            atomic_store(&at->parts[place].number, number + 1);
        }
        if (atomic_load(&at->parts[place].number) == number + 1) {
            snprintf(path, room, "%s", at->parts[place].path);
            return 0;
        }
        if (++tries % PARTS == 0 && (mine || !rests(&wait, since))) return mine ? HCCL_E_MEMORY : HCCL_E_TIMEOUT;
    }
}

/* -------------------- numbers -------------------- */

static float from_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023, bits;
    if (exponent == 31) bits = sign | 0x7F800000 | fraction << 13;
    else if (exponent) bits = sign | (exponent + 112) << 23 | fraction << 13;
    else {
        float small = fraction / 16777216.0f;
        return sign ? -small : small;
    }
    float found;
    memcpy(&found, &bits, 4);
    return found;
}

/* To the nearest, ties to even. */
static uint16_t to_half(float number) {
    uint32_t bits;
    memcpy(&bits, &number, 4);
    uint16_t sign = bits >> 16 & 0x8000;
    uint32_t rest = bits & 0x7FFFFFFF;
    if (rest > 0x7F800000) return sign | 0x7E00;
    if (rest >= 0x47800000 - 0x1000) return sign | 0x7C00; /* from 65520 on */
    if (rest < 0x38800000) {                               /* below the least normal number: by the FPU's rounding */
        float shifted = (number < 0 ? -number : number) + 0.5f;
        memcpy(&bits, &shifted, 4);
        return sign | (uint16_t)(bits - 0x3F000000);
    }
    rest += 0xFFF + (rest >> 13 & 1);
    return sign | (rest - 0x38000000) >> 13;
}

static float from_brain(uint16_t brain) {
    uint32_t bits = (uint32_t)brain << 16;
    float found;
    memcpy(&found, &bits, 4);
    return found;
}

static uint16_t to_brain(float number) {
    uint32_t bits;
    memcpy(&bits, &number, 4);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return bits >> 16 | 64;
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

#define COMBINE(a, b) (op == SUM ? (a) + (b) : op == PROD ? (a) * (b) : op == MAX ? ((a) > (b) ? (a) : (b)) : ((a) < (b) ? (a) : (b)))
#define REDUCE(type, wide, load, store)                                               \
    for (uint64_t i = 0; i < count; i++) {                                            \
        wide total = load(((const type *)it->at->chunks[0])[i]);                      \
        for (int rank = 1; rank < it->ranks; rank++) {                                \
            wide next = load(((const type *)it->at->chunks[rank])[i]);                \
            total = COMBINE(total, next);                                             \
        }                                                                             \
        ((type *)output)[i] = store(total);                                           \
    }                                                                                 \
    break
#define SAME(x) (x)

/* In the order of the ranks; half precision is rounded once. Integers wrap around. */
static void combine(exchange *it, char *output, uint64_t count, int dtype, int op) {
    switch (dtype) { /* HcclDataType */
        case 0: REDUCE(int8_t, int, SAME, (int8_t));
        case 1: REDUCE(int16_t, int, SAME, (int16_t));
        case 2: if (op == SUM || op == PROD) { REDUCE(uint32_t, uint32_t, SAME, SAME); } else { REDUCE(int32_t, int32_t, SAME, SAME); }
        case 3: REDUCE(uint16_t, float, from_half, to_half);
        case 4: REDUCE(float, float, SAME, SAME);
        case 5: if (op == SUM || op == PROD) { REDUCE(uint64_t, uint64_t, SAME, SAME); } else { REDUCE(int64_t, int64_t, SAME, SAME); }
        case 11: REDUCE(uint16_t, float, from_brain, to_brain);
    }
}

/* -------------------- collectives -------------------- */

static int announce(exchanging *it) {
    exchange *in = it->in;
    in->at->announced[in->rank] = it->what;
    int code = meet(in, &it->wait);
    for (int rank = 0; rank < in->ranks && !code; rank++) {
        announcement *other = &in->at->announced[rank];
        if (!memcmp(other, &it->what, sizeof *other)) continue;
        snprintf(it->difference, sizeof it->difference, "rank %d calls %s of %lu elements of dtype %d, rank %d %s of %lu of %d",
                 in->rank, it->what.name, (unsigned long)it->what.count, it->what.dtype, rank, other->name,
                 (unsigned long)other->count, other->dtype);
        code = HCCL_E_PARA;
    }
    int again = meet(in, &it->wait);
    return code ? code : again;
}

/* Of the elements from `done` on, those that the rank gets. */
static void keep(exchanging *it, const char *result, uint64_t done, uint64_t count) {
    uint64_t from = it->kept ? it->kept_from : 0, to = it->kept ? from + it->kept : it->what.count;
    uint64_t begin = done > from ? done : from, end = done + count < to ? done + count : to;
    if (begin < end) memcpy(it->receive + (begin - from) * it->item, result + (begin - done) * it->item, (end - begin) * it->item);
}

int exchange_reduce(exchanging *it) {
    exchange *in = it->in;
    int code = announce(it);
    uint64_t at_once = CHUNK / it->item;
    for (uint64_t done = 0; done < it->what.count && !code; done += at_once) {
        uint64_t count = it->what.count - done < at_once ? it->what.count - done : at_once;
        memcpy(in->at->chunks[in->rank], it->send + done * it->item, count * it->item);
        if ((code = meet(in, &it->wait))) break;
        if (it->receive) {
            char result[CHUNK];
            combine(in, result, count, it->what.dtype, it->what.op);
            keep(it, result, done, count);
        }
        code = meet(in, &it->wait);
    }
    return code;
}

int exchange_parts(exchanging *it) {
    exchange *in = it->in;
    message all[2 * MAX_RANKS];
    int count = 0, code = announce(it);
    if (code) return code;
    char *copy = NULL; /* the output may be the input */
    uint64_t end = 0;
    for (int rank = 0; rank < in->ranks; rank++)
        if (it->sent_at[rank] + it->sent[rank] > end) end = it->sent_at[rank] + it->sent[rank];
    if (end) copy = memcpy(malloc(end * it->item), it->send, end * it->item);
    for (int rank = 0; rank < in->ranks; rank++) {
        uint64_t sent = it->sent[rank] * it->item, taken = it->taken[rank] * it->item;
        char *from = copy + it->sent_at[rank] * it->item, *to = it->receive + it->taken_at[rank] * it->item;
        if (rank == in->rank) {
            memcpy(to, from, taken < sent ? taken : sent);
            continue;
        }
        if (sent) all[count++] = (message){false, from, sent, rank, 0, false};
        if (taken) all[count++] = (message){true, to, taken, rank, 0, false};
    }
    code = exchange_messages(in, all, count, it->wait);
    free(copy);
    return code;
}

/* -------------------- messages -------------------- */

/* A part of a message, where the mailbox is ready for it; whether it was. */
static bool advance(exchange *in, message *it) {
    int me = in->rank;
    mailbox *box = it->receives ? &in->at->mail[it->peer][me] : &in->at->mail[me][it->peer];
    uint64_t sent = atomic_load(&box->sent), taken = atomic_load(&box->taken);
    if (it->receives ? sent == taken : sent != taken) return false;
    if (!it->receives && it->done == it->bytes) return it->over = true; /* everything was taken */
    uint64_t bytes = it->bytes - it->done < MESSAGE ? it->bytes - it->done : MESSAGE;
    if (it->receives) {
        if (box->bytes < bytes) bytes = box->bytes;
        memcpy(it->memory + it->done, box->memory, bytes);
        it->done += bytes;
        it->over = it->done == it->bytes;
        atomic_store(&box->taken, taken + 1);
    } else {
        memcpy(box->memory, it->memory + it->done, bytes);
        box->bytes = bytes;
        it->done += bytes;
        atomic_store(&box->sent, sent + 1);
    }
    return true;
}

int exchange_messages(exchange *in, message *all, int count, patience wait) {
    double since = now();
    for (int left = count; left;) {
        bool moved = false;
        left = 0;
        for (int i = 0; i < count; i++) {
            bool is_later = false; /* messages between the same two come one after the other */
            for (int j = 0; j < i; j++)
                is_later |= !all[j].over && all[j].receives == all[i].receives && all[j].peer == all[i].peer;
            if (!all[i].over && !is_later) moved |= advance(in, &all[i]);
            left += !all[i].over;
        }
        if (left && !moved && !rests(&wait, since)) return HCCL_E_TIMEOUT;
    }
    return 0;
}
