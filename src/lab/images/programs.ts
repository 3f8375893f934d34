// Two static x86-64 programs for the lab's images, as machine code with its listing: no compiler is needed to make an
// image. `pause` holds a sandbox open; `hog MIB [PAUSE_MS]` touches that much memory over and over.

/** Ends on SIGINT and SIGTERM, reaps adopted children by ignoring SIGCHLD. */
// biome-ignore format: one instruction a line
const pauseCode = [
  // _start:
  '6a00', // push 0x0
  '488d0551000000', // lea rax,[rip+0x51] -> quit
  '50', // push rax
  '6800000004', // push 0x4000000
  '50', // push rax
  '41bc02000000', // mov r12d,0x2
  'e827000000', // call trap
  '41bc0f000000', // mov r12d,0xf
  'e81c000000', // call trap
  '48c7042401000000', // mov QWORD PTR [rsp],0x1
  '41bc11000000', // mov r12d,0x11
  'e809000000', // call trap
  // wait:
  'b822000000', // mov eax,0x22
  '0f05', // syscall
  'ebf7', // jmp wait
  // trap:
  'b80d000000', // mov eax,0xd
  '4489e7', // mov edi,r12d
  '488d742408', // lea rsi,[rsp+0x8]
  '31d2', // xor edx,edx
  '41ba08000000', // mov r10d,0x8
  '0f05', // syscall
  'c3', // ret
  // quit:
  'b8e7000000', // mov eax,0xe7
  '31ff', // xor edi,edi
  '0f05', // syscall
]

/** Prints one line a pass, sleeps PAUSE_MS (1000) between passes; status 1: no memory, 2: no size. */
// biome-ignore format: one instruction a line
const hogCode = [
  // _start:
  '488b1c24', // mov rbx,QWORD PTR [rsp]
  '488d6c2410', // lea rbp,[rsp+0x10]
  '6a00', // push 0x0
  '488d0508010000', // lea rax,[rip+0x108] -> quit
  '50', // push rax
  '6800000004', // push 0x4000000
  '50', // push rax
  '41bc02000000', // mov r12d,0x2
  'e8de000000', // call trap
  '41bc0f000000', // mov r12d,0xf
  'e8d3000000', // call trap
  '41bde8030000', // mov r13d,0x3e8
  '4883fb02', // cmp rbx,0x2
  '0f82e6000000', // jb usage
  '740c', // je sized
  '488b7508', // mov rsi,QWORD PTR [rbp+0x8]
  'e89e000000', // call number
  '4989c5', // mov r13,rax
  // sized:
  '488b7500', // mov rsi,QWORD PTR [rbp+0x0]
  'e892000000', // call number
  '4885c0', // test rax,rax
  '0f84c6000000', // je usage
  '48c1e014', // shl rax,0x14
  '4989c6', // mov r14,rax
  'b809000000', // mov eax,0x9
  '31ff', // xor edi,edi
  '4c89f6', // mov rsi,r14
  'ba03000000', // mov edx,0x3
  '41ba22000000', // mov r10d,0x22
  '49c7c0ffffffff', // mov r8,0xffffffffffffffff
  '4531c9', // xor r9d,r9d
  '0f05', // syscall
  '483d00f0ffff', // cmp rax,0xfffffffffffff000
  '0f878b000000', // ja failed
  '4989c7', // mov r15,rax
  // pass:
  '31c9', // xor ecx,ecx
  // touch:
  '41fe040f', // inc BYTE PTR [r15+rcx*1]
  '4881c100100000', // add rcx,0x1000
  '4c39f1', // cmp rcx,r14
  '72f0', // jb touch
  'b801000000', // mov eax,0x1
  'bf01000000', // mov edi,0x1
  '488d3578000000', // lea rsi,[rip+0x78] -> text
  'ba05000000', // mov edx,0x5
  '0f05', // syscall
  '4c89e8', // mov rax,r13
  '31d2', // xor edx,edx
  'b9e8030000', // mov ecx,0x3e8
  '48f7f1', // div rcx
  '4869d240420f00', // imul rdx,rdx,0xf4240
  '52', // push rdx
  '50', // push rax
  'b823000000', // mov eax,0x23
  '4889e7', // mov rdi,rsp
  '31f6', // xor esi,esi
  '0f05', // syscall
  '4883c410', // add rsp,0x10
  'ebae', // jmp pass
  // number:
  '31c0', // xor eax,eax
  // digit:
  '0fb60e', // movzx ecx,BYTE PTR [rsi]
  '83e930', // sub ecx,0x30
  '83f909', // cmp ecx,0x9
  '770c', // ja done
  '486bc00a', // imul rax,rax,0xa
  '4801c8', // add rax,rcx
  '48ffc6', // inc rsi
  'ebe9', // jmp digit
  // done:
  'c3', // ret
  // trap:
  'b80d000000', // mov eax,0xd
  '4489e7', // mov edi,r12d
  '488d742408', // lea rsi,[rsp+0x8]
  '31d2', // xor edx,edx
  '41ba08000000', // mov r10d,0x8
  '0f05', // syscall
  'c3', // ret
  // quit:
  '31ff', // xor edi,edi
  'eb0c', // jmp exit
  // failed:
  'bf01000000', // mov edi,0x1
  'eb05', // jmp exit
  // usage:
  'bf02000000', // mov edi,0x2
  // exit:
  'b8e7000000', // mov eax,0xe7
  '0f05', // syscall
  '706173730a', // text: "pass\n"
]

const loadAddress = 0x400000n
const headers = 64 + 56

/** An ELF file with one segment that is readable and executable: the code right after the headers. */
export function formatElf(code: readonly string[]): Buffer {
  const text = Buffer.from(code.join(''), 'hex')
  const file = Buffer.alloc(headers + text.length)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 0) // 64 bit, little-endian
  file.writeUInt16LE(2, 16) // an executable
  file.writeUInt16LE(62, 18) // x86-64
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(loadAddress + BigInt(headers), 24)
  file.writeBigUInt64LE(64n, 32)
  file.writeUInt16LE(64, 52)
  file.writeUInt16LE(56, 54)
  file.writeUInt16LE(1, 56)
  file.writeUInt32LE(1, 64) // load
  file.writeUInt32LE(5, 68) // read, execute
  file.writeBigUInt64LE(loadAddress, 80)
  file.writeBigUInt64LE(loadAddress, 88)
  file.writeBigUInt64LE(BigInt(file.length), 96)
  file.writeBigUInt64LE(BigInt(file.length), 104)
  file.writeBigUInt64LE(0x1000n, 112)
  text.copy(file, headers)
  return file
}

export const pauseProgram = (): Buffer => formatElf(pauseCode)
export const hogProgram = (): Buffer => formatElf(hogCode)
