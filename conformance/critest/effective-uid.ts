// What critest's image nonewprivs does: a set-user-ID program that prints the user it runs as. Machine code with its
// listing, as the lab's programs are: busybox gives up such rights before an applet could show them.
import { formatElf } from '../../src/lab/images/programs.js'

// biome-ignore format: one instruction a line
const code = [
  // _start:
  'b86b000000', // mov eax,0x6b
  '0f05', // syscall: geteuid
  '4883ec40', // sub rsp,0x40
  '4c8d44243f', // lea r8,[rsp+0x3f]
  '41c6000a', // mov BYTE PTR [r8],0xa
  '4c89c6', // mov rsi,r8
  'b90a000000', // mov ecx,0xa
  // digit:
  '31d2', // xor edx,edx
  'f7f1', // div ecx
  '80c230', // add dl,0x30
  '48ffce', // dec rsi
  '8816', // mov BYTE PTR [rsi],dl
  '85c0', // test eax,eax
  '75f0', // jne digit
  '4c89c2', // mov rdx,r8
  '4829f2', // sub rdx,rsi
  '48ffc2', // inc rdx
  '4989f1', // mov r9,rsi
  '4989d2', // mov r10,rdx
  '488d352b000000', // lea rsi,[rip+0x2b] -> text
  'ba0f000000', // mov edx,0xf
  'e814000000', // call write
  '4c89ce', // mov rsi,r9
  '4c89d2', // mov rdx,r10
  'e809000000', // call write
  '31ff', // xor edi,edi
  'b8e7000000', // mov eax,0xe7
  '0f05', // syscall: exit_group
  // write:
  'b801000000', // mov eax,0x1
  'bf01000000', // mov edi,0x1
  '0f05', // syscall: write
  'c3', // ret
  Buffer.from('Effective uid: ').toString('hex'), // text:
]

export const effectiveUidProgram = (): Buffer => formatElf(code)
