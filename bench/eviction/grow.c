// grow START_MIB MIB_PER_SECOND: has START_MIB of memory at once, then so much more each second.
// It does not react to SIGTERM, as the first process of a container does not by default.
#include <stdlib.h>
#include <time.h>

static void take(size_t bytes)
{
    volatile char *memory = malloc(bytes);
    for (size_t at = 0; memory != NULL && at < bytes; at += 4096)
        memory[at] = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
    const size_t mib = 1024 * 1024;
    const struct timespec step = {0, 20 * 1000 * 1000};
    if (count != 3)
        return 2;
    const size_t first = strtoul(arguments[1], NULL, 10), rate = strtoul(arguments[2], NULL, 10);
    take(first * mib);
    const double began = now();
    for (size_t taken = 0;; nanosleep(&step, NULL))
        for (const size_t due = (now() - began) * rate; taken < due; taken++)
            take(mib);
}
