// /proc/self/auxv: the page size that the kernel gives every program, without asking a subprocess.

/** AT_PAGESZ of include/uapi/linux/auxvec.h. */
const AT_PAGESZ = 6n

/** Pairs of 64-bit words in the byte order of the machine; every platform that Node 20 ships for is 64-bit little-endian. */
export function parsePageSize(auxv: Uint8Array): bigint | undefined {
  const view = new DataView(auxv.buffer, auxv.byteOffset, auxv.byteLength)
  for (let at = 0; at + 16 <= auxv.length; at += 16)
    if (view.getBigUint64(at, true) === AT_PAGESZ) return view.getBigUint64(at + 8, true)
  return undefined
}
