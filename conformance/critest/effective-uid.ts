// What critest's image nonewprivs does: a set-user-ID program that prints the user it runs as. Compiled, as the lab's
// programs are: busybox gives up such rights before an applet could show them.
import { compileProgram } from '../../src/lab/images/programs.js'

const source = String.raw`
static char digits[24];

void start(long *stack)
{
    long uid = call(GETEUID, 0, 0, 0, 0, 0, 0);
    long at = sizeof digits;

    (void)stack;
    digits[--at] = '\n';
    do
        digits[--at] = '0' + uid % 10;
    while ((uid /= 10) != 0);
    print("Effective uid: ", 15);
    print(digits + at, sizeof digits - at);
    quit(0);
}
`

export const effectiveUidProgram = (): Buffer => compileProgram(source)
