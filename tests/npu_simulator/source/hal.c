/* libascend_hal.so: the driver, which counts devices without initialization. */
#include "core.h"

int drvGetDevNum(uint32_t *count) {
    if (!count) return 1;
    *count = sim_device_count;
    return 0;
}
