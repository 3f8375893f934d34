// grow START_MIB MIB_PER_SECOND: has START_MIB of memory at once, then so much more each second, in steps of a twentieth of one.
// It does not react to SIGTERM, as the first process of a container does not by default.
#include <stdlib.h>
#include <time.h>

static void take(size_t bytes)
{
    volatile char *memory = malloc(bytes);
    for (size_t at = 0; memory != NULL && at < bytes; at += 4096)
        memory[at] = 1;
}

int main(int count, char **arguments)
{
    const size_t mib = 1024 * 1024;
    const struct timespec step = {0, 50 * 1000 * 1000};
    if (count != 3)
        return 2;
    take(strtoul(arguments[1], NULL, 10) * mib);
    for (const size_t more = strtoul(arguments[2], NULL, 10) * mib / 20;; nanosleep(&step, NULL))
        if (more > 0)
            take(more);
}
