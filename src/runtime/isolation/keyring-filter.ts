import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** An architecture as the kernel numbers it (linux/audit.h), and its calls add_key, request_key and keyctl. */
interface Calls {
  audit: number
  first: number
}

/** The architectures of the programs that a machine can execute: its own, and the 32-bit one. */
const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, readonly Calls[]>>> = {
  x64: [
    { audit: 0xc000003e, first: 248 },
    { audit: 0x40000003, first: 286 },
  ],
  arm64: [
    { audit: 0xc00000b7, first: 217 },
    { audit: 0x40000028, first: 309 },
  ],
}

/** On x64, the calls of the ABI x32 have this bit. Programs do not use it, and it would avoid the filter. */
const X32 = 0x40000000

const LOAD = 0x20
const EQUAL = 0x15
const AT_LEAST = 0x35
const RETURN = 0x06
const ALLOW = 0x7fff0000
/** The error of a kernel without keyrings (ENOSYS), for which programs are prepared. */
const REFUSE = 0x00050000 + 38

/**
 * Returns a seccomp filter that refuses the calls for keyrings of the kernel.
 * No namespace hides the keyring of the server's session, which may contain
 * Kerberos tickets and keys of encrypted disks. Returns null on architectures
 * whose numbers are not listed here.
 */
export function keyringFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const machine = MACHINES[architecture]
  if (!machine) return null
  /** An instruction: code, jump if true, jump if false, operand. */
  const program: [number, number, number, number][] = [[LOAD, 0, 0, 4]]
  for (const { audit, first } of machine) {
    const refused: [code: number, operand: number][] = [
      ...(audit === 0xc000003e ? [[AT_LEAST, X32] as [number, number]] : []),
      ...[first, first + 1, first + 2].map((call): [number, number] => [EQUAL, call]),
    ]
    program.push([EQUAL, 0, refused.length + 3, audit], [LOAD, 0, 0, 0])
    refused.forEach(([code, operand], n) => {
      program.push([code, refused.length - n, 0, operand])
    })
    program.push([RETURN, 0, 0, ALLOW], [RETURN, 0, 0, REFUSE])
  }
  program.push([RETURN, 0, 0, REFUSE])
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, yes, no, operand], n) => {
    bytes.writeUInt16LE(code, n * 8)
    bytes.writeUInt8(yes, n * 8 + 2)
    bytes.writeUInt8(no, n * 8 + 3)
    bytes.writeUInt32LE(operand, n * 8 + 4)
  })
  return bytes
}

/** Writes the filter below the data directory, if it is not there. Returns its path, or null if there is none for this machine. */
export function writeKeyringFilter(dataDir: string): string | null {
  const filter = keyringFilter()
  if (filter === null) return null
  const file = path.join(dataDir, 'sandbox', 'keyrings.bpf')
  if (isContent(file, filter)) return file
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, filter, { mode: 0o600 })
  return file
}

function isContent(file: string, bytes: Buffer): boolean {
  try {
    return readFileSync(file).equals(bytes)
  } catch {
    return false
  }
}
