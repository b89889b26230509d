import { crc32, inflateRawSync } from 'node:zlib'
import {
  badPackage,
  collectFiles,
  LIMITS,
  type PackageFiles,
  tooLarge,
  tooLargeTogether,
  tooManyFiles,
} from './files.ts'

/**
 * Reads a zip archive. Its directory is read here rather than by a library,
 * since it alone says which entries are symbolic links; sizes are believed by
 * nobody: inflating stops at the limit whatever the archive claims.
 *
 * @throws AppError when it is no zip, is damaged, or holds what a package may not
 */
export function readZip(archive: Uint8Array, want: (path: string) => boolean = () => true): PackageFiles {
  const view = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const collected = collectFiles()
  let room: number = LIMITS.totalBytes
  for (const entry of entriesOf(view)) {
    if (entry.name.endsWith('/') || !want(entry.name)) continue
    if (entry.isLink) throw badPackage('is a symbolic link, and a package may not have any', entry.name)
    if (entry.isEncrypted) throw badPackage('is encrypted', entry.name)
    const limit = Math.min(LIMITS.fileBytes, room)
    const bytes = contentOf(view, entry, limit)
    room -= bytes.length
    collected.add(entry.name, bytes)
  }
  return collected.files
}

interface Entry {
  name: string
  method: number
  crc: number
  packedSize: number
  /** Where its local header begins. */
  offset: number
  isLink: boolean
  isEncrypted: boolean
}

const END = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_HEADER = 0x04034b50

function entriesOf(zip: Buffer): Entry[] {
  const end = findEnd(zip)
  if (end === undefined) throw badPackage('The file is no zip archive, or it is cut off.')
  const count = zip.readUInt16LE(end + 10)
  let at = zip.readUInt32LE(end + 16)
  // More than its 16 bits can say needs a form of zip that no package does.
  if (count === 0xffff || at === 0xffffffff) throw tooManyFiles(LIMITS.files)
  return Array.from({ length: count }, () => {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw damaged()
    const nameLength = zip.readUInt16LE(at + 28)
    const entry: Entry = {
      name: zip.toString('utf8', at + 46, at + 46 + nameLength),
      method: zip.readUInt16LE(at + 10),
      crc: zip.readUInt32LE(at + 16),
      packedSize: zip.readUInt32LE(at + 20),
      offset: zip.readUInt32LE(at + 42),
      // The upper half of the attributes is a Unix mode where the archive was made on one.
      isLink: ((zip.readUInt32LE(at + 38) >>> 16) & 0o170000) === 0o120000,
      isEncrypted: (zip.readUInt16LE(at + 8) & 1) === 1,
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    return entry
  })
}

/** What an archive says of itself at its end. GitHub says there which commit it is of. */
export function commentOf(archive: Uint8Array): string {
  const view = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const end = findEnd(view)
  return end === undefined ? '' : view.toString('latin1', end + 22)
}

/** The end record stands last, before a comment of up to 64 KB. */
function findEnd(zip: Buffer): number | undefined {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - 22 - 0xffff); at--) {
    if (zip.readUInt32LE(at) === END) return at
  }
  return undefined
}

function contentOf(zip: Buffer, entry: Entry, limit: number): Uint8Array {
  const { offset, name, packedSize } = entry
  if (offset + 30 > zip.length || zip.readUInt32LE(offset) !== LOCAL_HEADER) throw damaged()
  const start = offset + 30 + zip.readUInt16LE(offset + 26) + zip.readUInt16LE(offset + 28)
  if (start + packedSize > zip.length) throw damaged()
  const packed = zip.subarray(start, start + packedSize)
  const bytes = unpack(packed, entry, limit)
  if (bytes.length > limit) throw overLimit(name, limit)
  if (crc32(bytes) !== entry.crc) throw badPackage('is damaged in the archive', name)
  return bytes
}

function unpack(packed: Buffer, { method, name }: Entry, limit: number): Uint8Array {
  if (method === 0) return packed
  if (method !== 8) throw badPackage('is packed in a way that is not understood', name)
  try {
    return inflateRawSync(packed, { maxOutputLength: limit + 1 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw overLimit(name, limit)
    throw badPackage('is damaged in the archive', name)
  }
}

const overLimit = (name: string, limit: number) =>
  limit < LIMITS.fileBytes ? tooLargeTogether(LIMITS.totalBytes) : tooLarge(name, limit)

const damaged = () => badPackage('The zip archive is damaged.')
