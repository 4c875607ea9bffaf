/* libnnopbase.so: descriptors of tensors, scalars and arrays, and lists of them. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct { sim_header header; sim_arg arg; } descriptor; /* of everything but lists */
typedef struct { sim_header header; void **members; uint64_t count; } list;

#define CREATE(result)                                    \
    static sim_site site_ = {__func__, 0, 0, NULL};       \
    if (sim_enter(&site_)) return NULL;                   \
    result

/* -------------------- tensors -------------------- */

static bool is_tensor_like(uint64_t rank, const void *dims, const void *strides, const void *address) {
    if (rank > MAX_RANK) return sim_fail(PARAM_INVALID, "aclCreateTensor: %d dimensions", (int)rank), false;
    if (rank && !(dims && strides)) return sim_fail(PARAM_NULLPTR, "aclCreateTensor: sizes or strides are null"), false;
    if ((uintptr_t)address % 32) return sim_fail(PARAM_INVALID, "aclCreateTensor: %p is not aligned to 32", address), false;
    return true;
}

void *aclCreateTensor(const int64_t *dims, uint64_t rank, int32_t dtype, const int64_t *strides, int64_t offset,
                      int32_t format, const int64_t *storage_dims, uint64_t storage_rank, void *address) {
    CREATE(descriptor *it = NULL);
    if (is_tensor_like(rank, dims, strides, address) && (it = sim_new(H_TENSOR))) {
        sim_arg *arg = &it->arg;
        arg->kind = 'T', arg->dtype = dtype, arg->format = format, arg->rank = rank, arg->offset = offset;
        memcpy(arg->dims, dims, rank * sizeof *dims);
        memcpy(arg->strides, strides, rank * sizeof *strides);
        arg->storage = 1;
        for (uint64_t i = 0; i < storage_rank; i++) arg->storage *= storage_dims[i];
        arg->address = address, arg->handle = it, arg->generation = it->header.generation;
    }
    sim_leave(it ? 0 : PARAM_INVALID);
    return it;
}

static int destroy(void *handle, int kind, const char *name) {
    if (!sim_is(handle, kind)) {
        sim_violation("%s of what is none, or of one that was destroyed", name);
        return sim_fail(handle ? PARAM_INVALID : PARAM_NULLPTR, "%s: %p is none", name, handle);
    }
    if (kind >= H_INTS && kind <= H_BOOLS) free(((descriptor *)handle)->arg.items);
    sim_delete(handle);
    return 0;
}

#define DESTROY(name, kind)                         \
    int name(const void *handle) {                  \
        ENTER(0);                                   \
        LEAVE(destroy((void *)handle, kind, #name)); \
    }
DESTROY(aclDestroyTensor, H_TENSOR)
DESTROY(aclDestroyScalar, H_SCALAR)
DESTROY(aclDestroyIntArray, H_INTS)
DESTROY(aclDestroyFloatArray, H_FLOATS)
DESTROY(aclDestroyBoolArray, H_BOOLS)

/* C++ callers release these with delete[]; free is the same on Linux. */
static int hand_out(const void *handle, const int64_t *values, int count, int64_t **copy, uint64_t *length) {
    if (!sim_is(handle, H_TENSOR)) return sim_fail(PARAM_INVALID, "%p is no tensor", handle);
    if (!copy || !length) return sim_fail(PARAM_NULLPTR, "no place for the answer");
    *copy = malloc((count + 1) * sizeof **copy);
    memcpy(*copy, values, count * sizeof **copy);
    *length = count;
    return 0;
}

#define ARG(handle) (&((descriptor *)(handle))->arg)
#define GET_TENSOR(handle) REFUSE_UNLESS(sim_is(handle, H_TENSOR), PARAM_INVALID, "%s: %p is no tensor", __func__, handle)

int aclGetViewShape(const void *tensor, int64_t **dims, uint64_t *count) {
    ENTER(0);
    GET_TENSOR(tensor);
    LEAVE(hand_out(tensor, ARG(tensor)->dims, ARG(tensor)->rank, dims, count));
}

int aclGetViewStrides(const void *tensor, int64_t **strides, uint64_t *count) {
    ENTER(0);
    GET_TENSOR(tensor);
    LEAVE(hand_out(tensor, ARG(tensor)->strides, ARG(tensor)->rank, strides, count));
}

int aclGetStorageShape(const void *tensor, int64_t **dims, uint64_t *count) {
    ENTER(0);
    GET_TENSOR(tensor);
    LEAVE(hand_out(tensor, &ARG(tensor)->storage, 1, dims, count));
}

int aclGetViewOffset(const void *tensor, int64_t *offset) {
    ENTER(0);
    GET_TENSOR(tensor);
    *offset = ARG(tensor)->offset;
    LEAVE(0);
}

int aclGetDataType(const void *tensor, int32_t *dtype) {
    ENTER(0);
    GET_TENSOR(tensor);
    *dtype = ARG(tensor)->dtype;
    LEAVE(0);
}

int aclGetFormat(const void *tensor, int32_t *format) {
    ENTER(0);
    GET_TENSOR(tensor);
    *format = ARG(tensor)->format;
    LEAVE(0);
}

int aclSetRawTensorAddr(void *tensor, void *address) {
    ENTER(0);
    GET_TENSOR(tensor);
    ARG(tensor)->address = address;
    LEAVE(0);
}

int aclGetRawTensorAddr(const void *tensor, void **address) {
    ENTER(0);
    GET_TENSOR(tensor);
    *address = ARG(tensor)->address;
    LEAVE(0);
}

/* How large an output became whose size depends on the data: the view of the descriptor that was passed, if it lives. */
void sim_set_view_shape(void *handle, uint64_t generation, const int64_t *dims, int rank) {
    pthread_mutex_lock(&sim_mutex);
    if (sim_is(handle, H_TENSOR) && ((descriptor *)handle)->header.generation == generation) {
        sim_arg *arg = ARG(handle);
        int64_t stride = 1;
        arg->rank = rank;
        for (int i = rank - 1; i >= 0; i--) {
            arg->dims[i] = dims[i], arg->strides[i] = stride;
            stride *= dims[i];
        }
    }
    pthread_mutex_unlock(&sim_mutex);
}

/* -------------------- scalars and arrays -------------------- */

static float half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    float value = exponent ? (bits & 1023) + 1024.0f : (bits & 1023);
    for (int i = exponent ? exponent : 1; i < 25; i++) value /= 2;
    for (int i = 25; i < exponent; i++) value *= 2;
    if (exponent == 31) value = bits & 1023 ? __builtin_nanf("") : __builtin_inff();
    return bits >> 15 ? -value : value;
}

static float brain(uint16_t bits) {
    union { uint32_t bits; float value; } wide = {(uint32_t)bits << 16};
    return wide.value;
}

#define READ(type) (*(const type *)value)
static bool read_scalar(sim_arg *arg, const void *value) {
    switch (arg->dtype) {
        case 0: arg->real = READ(float); break;
        case 1: arg->real = half(READ(uint16_t)); break;
        case 11: arg->real = READ(double); break;
        case 27: arg->real = brain(READ(uint16_t)); break;
        case 16: arg->real = READ(float), arg->imaginary = ((const float *)value)[1]; break;
        case 17: arg->real = READ(double), arg->imaginary = ((const double *)value)[1]; break;
        case 2: arg->integer = READ(int8_t); break;
        case 3: arg->integer = READ(int32_t); break;
        case 4: arg->integer = READ(uint8_t); break;
        case 6: arg->integer = READ(int16_t); break;
        case 7: arg->integer = READ(uint16_t); break;
        case 8: arg->integer = READ(uint32_t); break;
        case 9: case 10: arg->integer = READ(int64_t); break;
        case 12: arg->integer = READ(uint8_t) != 0; break;
        default: return false;
    }
    return true;
}

void *aclCreateScalar(void *value, int32_t dtype) {
    CREATE(descriptor *it = NULL);
    sim_arg arg = {.kind = 'S', .dtype = dtype};
    if (value && read_scalar(&arg, value) && (it = sim_new(H_SCALAR))) it->arg = arg;
    sim_leave(it ? 0 : sim_fail(PARAM_INVALID, "aclCreateScalar: dtype %d, value at %p", dtype, value));
    return it;
}

static descriptor *array(int handle_kind, int kind, const void *values, uint64_t count, size_t size) {
    if (count && !values) return sim_fail(PARAM_NULLPTR, "an array of %d values, which are null", (int)count), NULL;
    descriptor *it = sim_new(handle_kind);
    if (!it) return NULL;
    it->arg.kind = kind, it->arg.count = count;
    it->arg.items = memcpy(malloc(count * size + 1), count ? values : "", count * size);
    return it;
}

#define CREATE_ARRAY(name, type, handle_kind, kind)                          \
    void *name(const type *values, uint64_t count) {                         \
        CREATE(void *it = array(handle_kind, kind, values, count, sizeof *values)); \
        sim_leave(it ? 0 : PARAM_NULLPTR);                                   \
        return it;                                                           \
    }
CREATE_ARRAY(aclCreateIntArray, int64_t, H_INTS, 'I')
CREATE_ARRAY(aclCreateFloatArray, float, H_FLOATS, 'F')
CREATE_ARRAY(aclCreateBoolArray, bool, H_BOOLS, 'B')

static int size_of(const void *handle, int kind, uint64_t *size) {
    if (!sim_is(handle, kind) || !size) return sim_fail(PARAM_INVALID, "%p has no size", handle);
    *size = kind == H_TENSORS || kind == H_SCALARS ? ((list *)handle)->count : (uint64_t)ARG(handle)->count;
    return 0;
}

#define GET_SIZE(name, kind)                       \
    int name(const void *handle, uint64_t *size) { \
        ENTER(0);                                  \
        LEAVE(size_of(handle, kind, size));        \
    }
GET_SIZE(aclGetIntArraySize, H_INTS)
GET_SIZE(aclGetFloatArraySize, H_FLOATS)
GET_SIZE(aclGetBoolArraySize, H_BOOLS)
GET_SIZE(aclGetTensorListSize, H_TENSORS)
GET_SIZE(aclGetScalarListSize, H_SCALARS)

/* -------------------- lists: they own their members -------------------- */

static list *list_of(void *const *members, uint64_t count, int kind, int member_kind) {
    for (uint64_t i = 0; i < count; i++)
        if (!sim_is(members[i], member_kind)) return sim_fail(PARAM_INVALID, "member %d of a list is none", (int)i), NULL;
    list *it = sim_new(kind);
    if (!it) return NULL;
    it->members = malloc((count + 1) * sizeof *members);
    if (count) memcpy(it->members, members, count * sizeof *members);
    it->count = count;
    return it;
}

#define CREATE_LIST(name, kind, member_kind)                            \
    void *name(void *const *members, uint64_t count) {                  \
        CREATE(void *it = list_of(members, count, kind, member_kind));  \
        sim_leave(it ? 0 : PARAM_INVALID);                              \
        return it;                                                      \
    }
CREATE_LIST(aclCreateTensorList, H_TENSORS, H_TENSOR)
CREATE_LIST(aclCreateScalarList, H_SCALARS, H_SCALAR)

static int destroy_list(list *it, int kind, int member_kind, const char *name) {
    if (!sim_is(it, kind)) return destroy(it, kind, name);
    int code = 0;
    for (uint64_t i = 0; i < it->count; i++) {
        int own = destroy(it->members[i], member_kind, name);
        if (own) code = own;
    }
    free(it->members);
    sim_delete(it);
    return code;
}

int aclDestroyTensorList(const void *handle) {
    ENTER(0);
    LEAVE(destroy_list((list *)handle, H_TENSORS, H_TENSOR, "aclDestroyTensorList"));
}

int aclDestroyScalarList(const void *handle) {
    ENTER(0);
    LEAVE(destroy_list((list *)handle, H_SCALARS, H_SCALAR, "aclDestroyScalarList"));
}

/* -------------------- what ops take of them -------------------- */

/* The members of a list as arguments, to be released by the caller; NULL if it or one of them is out of date. */
sim_arg *sim_list_arguments(const void *handle, int kind, int64_t *count) {
    bool tensors = kind == 'L';
    if (!sim_is(handle, tensors ? H_TENSORS : H_SCALARS)) return NULL;
    const list *it = handle;
    sim_arg *args = calloc(it->count + 1, sizeof *args);
    for (uint64_t i = 0; i < it->count; i++) {
        if (!sim_is(it->members[i], tensors ? H_TENSOR : H_SCALAR)) return free(args), NULL;
        args[i] = *ARG(it->members[i]);
    }
    *count = it->count;
    return args;
}

const sim_arg *sim_argument(const void *handle, int handle_kind) {
    return sim_is(handle, handle_kind) ? ARG(handle) : NULL;
}
