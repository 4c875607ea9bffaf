/* Memory of devices, which the host cannot touch: one file is mapped twice, and the addresses handed out are those of the
 * mapping without access. Pinned memory of the host. */
#define _GNU_SOURCE
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

sim_device sim_devices[MAX_DEVICES];
int sim_device_count;

#define NEW_MEMORY 0xA5  /* malloc does not zero */
#define OLD_MEMORY 0xDD

static int64_t setting(const char *name, int64_t otherwise) {
    const char *value = getenv(name);
    return value && *value ? atoll(value) : otherwise;
}

static void reserve(sim_device *device, size_t capacity) {
    int file = memfd_create("npu", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, capacity)) abort();
    void *base = mmap(NULL, capacity, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    void *alias = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (base == MAP_FAILED || alias == MAP_FAILED) abort();
    device->base = device->next = (uintptr_t)base;
    device->alias = alias;
    device->capacity = device->limit = capacity;
}

void sim_configure(void) {
    sim_device_count = setting("NPU_SIMULATOR_DEVICES", 2);
    if (sim_device_count > MAX_DEVICES) sim_device_count = MAX_DEVICES;
    for (int i = 0; i < sim_device_count; i++) reserve(&sim_devices[i], setting("NPU_SIMULATOR_MEMORY", (int64_t)8 << 30));
}

/* The list must ascend; otherwise, as on a real machine, there are no devices at all. */
int sim_visible_devices(int *numbers) {
    const char *list = getenv("ASCEND_RT_VISIBLE_DEVICES");
    int count = 0, before = -1;
    if (!list) {
        for (; count < sim_device_count; count++) numbers[count] = count;
        return count;
    }
    for (char *end; *list; list = *end ? end + 1 : end) {
        long number = strtol(list, &end, 10);
        if (end == list || number <= before || number >= sim_device_count || (*end && *end != ',')) return 0;
        numbers[count++] = before = number;
    }
    return count;
}

/* By the number that programs use, which counts the visible devices. */
sim_device *sim_device_at(int logical) {
    int numbers[MAX_DEVICES];
    return logical >= 0 && logical < sim_visible_devices(numbers) ? &sim_devices[numbers[logical]] : NULL;
}

sim_device *sim_device_here(void) { return sim_device_at(sim_here()->device); }

sim_device *sim_device_of(const void *address) {
    for (int i = 0; i < sim_device_count; i++)
        if ((uintptr_t)address - sim_devices[i].base < sim_devices[i].capacity) return &sim_devices[i];
    return NULL;
}

char *sim_alias(const void *address) {
    sim_device *device = sim_device_of(address);
    return device ? device->alias + ((uintptr_t)address - device->base) : NULL;
}

/* The number of blocks at or before an address. */
static int position(const sim_device *device, uintptr_t address) {
    int low = 0, high = device->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (device->blocks[middle].address <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

sim_block *sim_block_of(const void *address) {
    sim_device *device = sim_device_of(address);
    int found = device ? position(device, (uintptr_t)address) : 0;
    if (!found) return NULL;
    sim_block *block = &device->blocks[found - 1];
    return (uintptr_t)address - block->address < block->size ? block : NULL;
}

static uintptr_t room_from(const sim_device *device, uintptr_t start, size_t size, size_t alignment) {
    for (int i = position(device, start);; i++) {
        uintptr_t begin = start;
        if (i > 0 && device->blocks[i - 1].address + device->blocks[i - 1].size > begin)
            begin = device->blocks[i - 1].address + device->blocks[i - 1].size;
        begin = (begin + alignment - 1) / alignment * alignment;
        uintptr_t end = i < device->count ? device->blocks[i].address : device->base + device->capacity;
        if (begin + size <= end) return begin;
        if (i >= device->count) return 0;
    }
}

static void insert(sim_device *device, sim_block block) {
    if (device->count == device->room) {
        device->room = 2 * device->room + 64;
        device->blocks = realloc(device->blocks, device->room * sizeof block);
    }
    int at = position(device, block.address);
    memmove(&device->blocks[at + 1], &device->blocks[at], (device->count++ - at) * sizeof block);
    device->blocks[at] = block;
}

void *sim_allocate(sim_device *device, size_t asked, size_t alignment) {
    size_t size = (asked + 31) / 32 * 32 + 32; /* as A2 and A3 do */
    if (size < asked || device->used + size > device->limit) return NULL;
    uintptr_t address = room_from(device, device->next, size, alignment);
    if (!address) address = room_from(device, device->base, size, alignment);
    if (!address) return NULL;
    insert(device, (sim_block){address, size, asked});
    device->used += size;
    device->next = address + size;
    memset(sim_alias((void *)address), NEW_MEMORY, size);
    return (void *)address;
}

/* Memory goes at once, whoever still uses it. */
int sim_release(void *address) {
    sim_device *device = sim_device_of(address);
    sim_block *block = sim_block_of(address);
    if (!block || block->address != (uintptr_t)address) {
        sim_violation("aclrtFree of %p, which is no block", address);
        return sim_fail(RT_PARAM_INVALID, "aclrtFree: %p is no block of a device", address);
    }
    sim_used_by_host(address, block->size, true, "aclrtFree");
    sim_forget_memory(address, block->size);
    size_t size = block->size;
    char *alias = sim_alias(address);
    if (size <= 1 << 20) memset(alias, OLD_MEMORY, size);
    else madvise((void *)(((uintptr_t)alias + 4095) / 4096 * 4096), size / 4096 * 4096 - 4096, MADV_REMOVE);
    device->used -= size;
    memmove(block, block + 1, (char *)&device->blocks[device->count--] - (char *)(block + 1));
    return 0;
}

/* -------------------- the host -------------------- */

typedef struct host_block { char *address; size_t size; struct host_block *next; } host_block;
static host_block *host_blocks;
static int64_t host_count;

void *sim_host_allocate(size_t size) {
    host_block *block = malloc(sizeof *block);
    block->address = aligned_alloc(64, (size + 63) / 64 * 64);
    block->size = size;
    if (!block->address) return free(block), NULL;
    memset(block->address, NEW_MEMORY, size);
    block->next = host_blocks, host_blocks = block;
    host_count++;
    return block->address;
}

int sim_host_release(void *address) {
    for (host_block **at = &host_blocks; *at; at = &(*at)->next) {
        host_block *block = *at;
        if (block->address != address) continue;
        sim_job *user = sim_job_using((uintptr_t)address, (uintptr_t)address + block->size);
        sim_used_by_host(address, block->size, true, "aclrtFreeHost");
        sim_forget_memory(address, block->size);
        *at = block->next;
        if (!user) free(block->address); /* else it stays, so that the test can go on and tell */
        free(block);
        host_count--;
        return 0;
    }
    sim_violation("aclrtFreeHost of %p, which is no block", address);
    return sim_fail(RT_PARAM_INVALID, "aclrtFreeHost: %p is no block", address);
}

bool sim_is_pinned(const void *address, size_t size) {
    for (host_block *block = host_blocks; block; block = block->next)
        if ((const char *)address >= block->address && (const char *)address + size <= block->address + block->size) return true;
    return false;
}

int64_t sim_host_blocks(void) { return host_count; }

void sim_release_everything(void) {
    for (int i = 0; i < sim_device_count; i++)
        while (sim_devices[i].count) sim_release((void *)sim_devices[i].blocks[0].address);
    while (host_blocks) sim_host_release(host_blocks->address);
}

void sim_set_memory_limit(int device, int64_t bytes) {
    pthread_mutex_lock(&sim_mutex);
    sim_device *each = &sim_devices[device];
    each->limit = bytes < 0 || (size_t)bytes > each->capacity ? each->capacity : (size_t)bytes;
    pthread_mutex_unlock(&sim_mutex);
}

/* What the host could not read itself; for the tests. */
int sim_peek(const void *address, void *copy, size_t size) {
    char *alias = sim_alias(address);
    if (!alias) return -1;
    memcpy(copy, alias, size);
    return 0;
}
