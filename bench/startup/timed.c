/* timed COMMAND ARG...: runs it with its output thrown away and prints its CPU and wall time in nanoseconds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long wall(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  long long start = wall();
  pid_t pid = fork();
  if (pid == 0) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, 1);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status;
  struct rusage used;
  if (pid < 0 || wait4(pid, &status, 0, &used) < 0 || status != 0) return 1;
  long long cpu = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000LL +
                  (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL;
  printf("%lld %lld\n", cpu, wall() - start);
  return 0;
}
