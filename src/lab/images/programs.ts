// Two small programs for the lab's images. They use no C library, so that none has to be installed and the files are static and tiny.
// `pause` holds a sandbox open; `hog MIB [PAUSE_MS]` touches that much memory over and over.
import { compileC } from '../compile-c.js'

/** Entry point, system calls and the handlers of SIGINT and SIGTERM. No local arrays: those may want a C library. */
const prelude = String.raw`
__asm__(
    ".globl _start\n"
    "_start: mov %rsp, %rdi\n and $-16, %rsp\n call start\n"
    ".globl call\n"
    "call: mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n"
    " mov %r8, %r10\n mov %r9, %r8\n mov 8(%rsp), %r9\n syscall\n ret\n");

enum { WRITE = 1, MMAP = 9, RT_SIGACTION = 13, PAUSE = 34, NANOSLEEP = 35, GETEUID = 107, EXIT_GROUP = 231 };
enum { SIGINT = 2, SIGTERM = 15, SIGCHLD = 17 };
enum { SIG_IGN = 1, SA_RESTORER = 0x04000000 };

long call(long number, long a, long b, long c, long d, long e, long f);

static void quit(long status)
{
    call(EXIT_GROUP, status, 0, 0, 0, 0, 0);
}

static void end(int signal)
{
    (void)signal;
    quit(0);
}

static void print(const char *text, long length)
{
    call(WRITE, 1, (long)text, length, 0, 0, 0);
}

static long action[4]; /* handler, flags, restorer, mask */

static void on(long signal, long handler)
{
    action[0] = handler;
    action[1] = SA_RESTORER;
    action[2] = (long)end;
    call(RT_SIGACTION, signal, (long)action, 0, 8, 0, 0);
}
`

/** Reaps adopted children by ignoring SIGCHLD. */
const pause = `
void start(long *stack)
{
    (void)stack;
    on(SIGINT, (long)end);
    on(SIGTERM, (long)end);
    on(SIGCHLD, SIG_IGN);
    for (;;)
        call(PAUSE, 0, 0, 0, 0, 0, 0);
}
`

/** Prints one line a pass, sleeps PAUSE_MS (1000) between passes; status 1: no memory, 2: no size. */
const hog = String.raw`
static long rest[2]; /* seconds, nanoseconds */

static long number(const char *text)
{
    long n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (*text - '0');
    return n;
}

void start(long *stack)
{
    long count = stack[0];
    char **words = (char **)(stack + 1);
    long size = count < 2 ? 0 : number(words[1]) << 20;
    long ms = count < 3 ? 1000 : number(words[2]);
    volatile char *memory;
    long at;

    on(SIGINT, (long)end);
    on(SIGTERM, (long)end);
    if (size == 0)
        quit(2);
    memory = (volatile char *)call(MMAP, 0, size, 3 /* read, write */, 0x22 /* private, anonymous */, -1, 0);
    if ((long)memory < 0 && (long)memory > -4096)
        quit(1);
    rest[0] = ms / 1000;
    rest[1] = ms % 1000 * 1000000;
    for (;;) {
        for (at = 0; at < size; at += 4096)
            memory[at]++;
        print("pass\n", 5);
        call(NANOSLEEP, (long)rest, 0, 0, 0, 0, 0);
    }
}
`

/** Everything that decides what the programs are. */
export const programSources: readonly string[] = [prelude, pause, hog]

/** `main` defines `void start(long *stack)`; what the kernel put there begins with argc and argv. */
export const compileProgram = (main: string, command?: string): Buffer =>
  compileC(prelude + main, ['-static'], command)

export const pauseProgram = (compiler?: string): Buffer => compileProgram(pause, compiler)
export const hogProgram = (compiler?: string): Buffer => compileProgram(hog, compiler)
