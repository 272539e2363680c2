/* Shifts the clock of day of every process that loads it by the seconds in $CLOCK_FILE.

   Clocks that only measure durations stay right, as when an administrator sets the clock. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *path;

/* At the start, for the environment may change under a thread that reads it later. */
__attribute__((constructor)) static void find_file(void)
{
    path = getenv("CLOCK_FILE");
}

static long offset_s(void)
{
    static volatile long kept, looked_at = -1;
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    if (looked_at == now.tv_sec)
        return kept;
    looked_at = now.tv_sec;
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return kept;
    char text[32] = {0};
    if (read(file, text, sizeof text - 1) > 0)
        kept = strtol(text, NULL, 10);
    close(file);
    return kept;
}

int clock_gettime(clockid_t id, struct timespec *at)
{
    int result = syscall(SYS_clock_gettime, id, at);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        at->tv_sec += offset_s();
    return result;
}

int gettimeofday(struct timeval *at, void *zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
