/* The floor for the cgroup sweep: the same reads with kept descriptors and no parsing.
 * sweep read COLD: the first line counts the paths that follow, one a line, "ready" is answered; then each line "SWEEPS" is
 * answered with the CPU nanoseconds of so many sweeps. COLD 1 empties the processor's caches before each line.
 * sweep hold: each line names cgroup.procs files, separated by blanks, and one sleeping process is put there; an empty line
 * is answered "ready". Ends, with its children, at the end of its input. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COLD_BYTES (64 << 20)

static char line[65536], buffer[65536];

static void fail(const char *what) {
  fprintf(stderr, "sweep: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int next_line(void) {
  if (!fgets(line, sizeof line, stdin)) return 0;
  line[strcspn(line, "\n")] = 0;
  return 1;
}

static long long cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int read_mode(int cold) {
  static char evict[COLD_BYTES];
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (!next_line()) return 1;
  int count = atoi(line);
  int *fds = calloc(count, sizeof *fds);
  for (int i = 0; i < count && next_line(); i++)
    if ((fds[i] = open(line, O_RDONLY | O_CLOEXEC)) < 0) fail(line);
  puts("ready");
  fflush(stdout);
  while (next_line()) {
    int sweeps = atoi(line);
    if (cold) memset(evict, sweeps, sizeof evict);
    long long start = cpu_now();
    for (int s = 0; s < sweeps; s++)
      for (int i = 0; i < count; i++)
        if (pread(fds[i], buffer, sizeof buffer, 0) < 0) fail("pread");
    printf("%lld\n", cpu_now() - start);
    fflush(stdout);
  }
  return 0;
}

/* A little anonymous memory, so that the counters are not all zero. */
static void sleep_in(char *files) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (char *file = strtok(files, " "); file; file = strtok(NULL, " ")) {
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) < 0) fail(file);
    close(fd);
  }
  memset(malloc(256 * 1024), 1, 256 * 1024);
  for (;;) pause();
}

static int hold_mode(void) {
  signal(SIGCHLD, SIG_IGN);
  setpgid(0, 0);
  while (next_line()) {
    if (!*line) {
      puts("ready");
      fflush(stdout);
      continue;
    }
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) sleep_in(line);
  }
  signal(SIGTERM, SIG_IGN);
  kill(0, SIGTERM);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "read")) return read_mode(atoi(argv[2]));
  if (argc == 2 && !strcmp(argv[1], "hold")) return hold_mode();
  fprintf(stderr, "usage: sweep read COLD | sweep hold\n");
  return 2;
}
