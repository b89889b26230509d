import { crc32 } from 'node:zlib'
import { unzipSync } from 'fflate'
import { unprocessable } from '../../platform/errors.ts'
import type { Gathered } from './folder.ts'
import { badFile, LIMITS, tooMuch } from './paths.ts'
import { ownersOf } from './read-skills.ts'

/**
 * Takes the skills' files out of a zip archive whose top is one folder, as
 * GitHub makes them. Only these are unpacked, and no more of each than the
 * archive says it has, so a bomb stays folded. Symbolic links are left out.
 *
 * @param folder of the archive, without slashes around it; empty for all of it
 * @throws AppError 422
 */
export function readArchive(zip: Uint8Array, folder: string): Gathered {
  const entries = listEntries(zip)
  const top = entries[0]?.name.split('/')[0] ?? ''
  const prefix = `${top}/${folder === '' ? '' : `${folder}/`}`
  const inside = entries
    .filter((entry) => entry.name.startsWith(prefix) && !entry.name.endsWith('/'))
    .map((entry) => ({ ...entry, path: entry.name.slice(prefix.length) }))
  const { owned } = ownersOf(inside.map((entry) => entry.path))
  const wanted = inside.filter((entry) => owned.has(entry.path))
  const plain = wanted.filter((entry) => !entry.isLink)
  checkSizes(plain)
  const names = new Map(plain.map((entry) => [entry.name, entry]))
  let unpacked: Record<string, Uint8Array>
  try {
    unpacked = unzipSync(zip, {
      filter: ({ name, originalSize }) => names.has(name) && originalSize === names.get(name)!.size,
    })
  } catch {
    throw broken()
  }
  const files = new Map<string, Uint8Array>()
  for (const { name, path, size, crc } of plain) {
    const content = Object.hasOwn(unpacked, name) ? unpacked[name] : undefined
    if (content?.length !== size || crc32(content) !== crc) throw broken()
    if (files.has(path)) throw badFile(path, 'is in the archive twice')
    files.set(path, content)
  }
  const links = wanted.filter((entry) => entry.isLink)
  return { files, warnings: links.map((link) => `${link.path} is a symbolic link and was left out.`) }
}

interface Entry {
  name: string
  /** Unpacked, in bytes, as the archive says. */
  size: number
  crc: number
  isLink: boolean
}

function checkSizes(entries: readonly { path: string; size: number }[]): void {
  const large = entries.find((entry) => entry.size > LIMITS.fileBytes)
  if (large) throw badFile(large.path, `is larger than ${LIMITS.fileBytes} bytes`)
  const total = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (total > LIMITS.totalBytes || entries.length > LIMITS.files) throw tooMuch('has too many or too large files')
}

const broken = () => unprocessable('source', 'the archive of the repository is broken')

const MAX_ENTRIES = 100_000
const SYMBOLIC_LINK = 0o120000
const FILE_TYPE = 0o170000

/** Reads the central directory: fflate does not tell what is a link. */
function listEntries(zip: Uint8Array): Entry[] {
  const bytes = Buffer.from(zip.buffer, zip.byteOffset, zip.length)
  const end = bytes.lastIndexOf('PK\x05\x06')
  if (end < 0 || end + 22 > bytes.length) throw broken()
  const count = bytes.readUInt16LE(end + 10)
  const entries: Entry[] = []
  // A repository of more files than the 16 bits can say has the rest behind them; the signature tells.
  for (let at = bytes.readUInt32LE(end + 16); at + 46 <= end && bytes.readUInt32LE(at) === 0x02014b50; ) {
    if (entries.length === MAX_ENTRIES) throw tooMuch(`has more than ${MAX_ENTRIES} files in its repository`)
    const nameLength = bytes.readUInt16LE(at + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    const mode = bytes.readUInt32LE(at + 38) >>> 16
    entries.push({
      name,
      size: bytes.readUInt32LE(at + 24),
      crc: bytes.readUInt32LE(at + 16),
      isLink: (mode & FILE_TYPE) === SYMBOLIC_LINK,
    })
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  if (entries.length < count) throw broken()
  return entries
}
