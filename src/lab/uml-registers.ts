// User-mode Linux before 6.13 keeps 2,696 bytes of a process's extended registers. Where the processor has AMX they are 11,008, the
// host's kernel refuses to set fewer, and the first program inside runs for ever. A library in front of ptrace fills the rest up.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileC } from './compile-c.js'

const source = String.raw`
struct part { void *base; unsigned long length; };
enum { GETREGSET = 0x4204, SETREGSET = 0x4205, X86_XSTATE = 0x202 };

void *dlsym(void *handle, const char *name);
void *memcpy(void *to, const void *from, unsigned long length);

static long (*next)(long, long, void *, void *);
static char registers[65536];

long ptrace(long request, long pid, void *address, void *data)
{
    struct part whole = { registers, sizeof registers };
    struct part *given = data;

    if (!next)
        next = (long (*)(long, long, void *, void *))dlsym((void *)-1 /* RTLD_NEXT */, "ptrace");
    if ((int)request == SETREGSET && address == (void *)X86_XSTATE &&
        next(GETREGSET, pid, address, &whole) == 0 && whole.length > given->length) {
        memcpy(registers, given->base, given->length);
        return next(request, pid, address, &whole);
    }
    return next(request, pid, address, data);
}
`

const hasLargeRegisters = (): boolean =>
  /^flags\s*:.*\bamx_tile\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))

/** Words before `linux.uml`; none where it runs without. The library is written to the directory. */
export function umlPreload(directory: string): readonly string[] {
  if (!hasLargeRegisters()) return []
  const library = join(directory, 'registers.so')
  writeFileSync(library, compileC(source, ['-shared', '-fPIC']))
  return ['env', `LD_PRELOAD=${library}`]
}
