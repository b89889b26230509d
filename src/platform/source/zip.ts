import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { collectInSlices, createPause } from '../pause.ts'
import { collectFiles, type FilesRead, fileTooLarge, type SelectFiles, selectAll, totalTooLarge } from './files.ts'
import type { FileRules } from './paths.ts'

/**
 * Reads the selected files of a zip archive. This code reads the directory of
 * the archive itself: libraries such as fflate do not report which entries are
 * symbolic links, and trust the sizes in the archive. Here inflating stops at
 * the limit, and an entry must match its size and checksum. It pauses often, so
 * that other requests do not wait for a large archive.
 *
 * @throws Error of `rules.refuse`
 */
export async function readZip(
  archive: Uint8Array,
  rules: FileRules,
  select: SelectFiles = selectAll,
): Promise<FilesRead> {
  const zip = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const fileOf = (entry: Entry) => (entry.path.endsWith('/') ? undefined : entry)
  const entries = await collectInSlices(listEntries(zip, rules), fileOf)
  const selected = await select(entries.map((entry) => entry.path))
  const wanted = await collectInSlices(entries, (entry) => (selected.has(entry.path) ? entry : undefined))
  const links = wanted.filter((entry) => entry.isLink)
  if (rules.symbolicLinks === 'refuse' && links[0]) throw rules.refuse('is a symbolic link', links[0].path)
  const collected = collectFiles(rules)
  const pause = createPause()
  for (const entry of wanted.filter((entry) => !entry.isLink)) {
    collected.add(entry.path, await contentOf(zip, entry, collected.room, rules))
    await pause()
  }
  return { files: collected.files, skippedLinks: links.map((link) => link.path) }
}

/** Returns the comment of a zip archive. GitHub writes the commit there. */
export function commentOfZip(archive: Uint8Array): string {
  const zip = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const end = findEndRecord(zip)
  return end === undefined ? '' : zip.toString('latin1', end + 22)
}

interface Entry {
  path: string
  method: number
  crc: number
  packedSize: number
  size: number
  /** Where the local header of the entry begins. */
  offset: number
  isLink: boolean
  isEncrypted: boolean
}

const END_RECORD = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_HEADER = 0x04034b50
const ZIP64_LOCATOR = 0x07064b50
const ZIP64_END_RECORD = 0x06064b50

/** A value of this size stands in a Zip64 field. */
const IN_ZIP64 = 0xffffffff

const MAX_ENTRIES = 50_000

function* listEntries(zip: Buffer, rules: FileRules): Generator<Entry, void> {
  const end = findEndRecord(zip)
  if (end === undefined) throw rules.refuse('is not a zip archive, or is incomplete')
  const { count, start } = findDirectory(zip, end, rules)
  let found = 0
  // The count has 16 bits and is too small for a large repository, so the signature decides where the list ends.
  for (let at = start; at + 46 <= end && zip.readUInt32LE(at) === DIRECTORY_ENTRY; ) {
    if (found++ === MAX_ENTRIES) throw rules.refuse(`is an archive of more than ${MAX_ENTRIES} files`)
    const nameLength = zip.readUInt16LE(at + 28)
    const extraLength = zip.readUInt16LE(at + 30)
    const extra = zip.subarray(at + 46 + nameLength, Math.min(at + 46 + nameLength + extraLength, end))
    const read64 = createZip64Reader(extra, rules)
    // The order of the values in the Zip64 field.
    const size = read64(zip.readUInt32LE(at + 24))
    const packedSize = read64(zip.readUInt32LE(at + 20))
    const offset = read64(zip.readUInt32LE(at + 42))
    yield {
      path: zip.toString('utf8', at + 46, at + 46 + nameLength),
      method: zip.readUInt16LE(at + 10),
      crc: zip.readUInt32LE(at + 16),
      packedSize,
      size,
      offset,
      // The upper half of the attributes is a Unix mode if the archive was made on Unix.
      isLink: ((zip.readUInt32LE(at + 38) >>> 16) & 0o170000) === 0o120000,
      isEncrypted: (zip.readUInt16LE(at + 8) & 1) === 1,
    }
    at += 46 + nameLength + extraLength + zip.readUInt16LE(at + 32)
  }
  if (found < count) throw damagedArchive(rules)
}

/** Returns where the directory begins, and the least number of its entries. The record of a Zip64 archive has 64 bits. */
function findDirectory(zip: Buffer, end: number, rules: FileRules): { count: number; start: number } {
  const locator = end - 20
  if (locator < 0 || zip.readUInt32LE(locator) !== ZIP64_LOCATOR) {
    return { count: zip.readUInt16LE(end + 10), start: zip.readUInt32LE(end + 16) }
  }
  const record = Number(zip.readBigUInt64LE(locator + 8))
  if (record + 56 > locator || zip.readUInt32LE(record) !== ZIP64_END_RECORD) throw damagedArchive(rules)
  return { count: Number(zip.readBigUInt64LE(record + 32)), start: Number(zip.readBigUInt64LE(record + 48)) }
}

/**
 * Returns a function that returns a value of a directory entry. A value that
 * does not fit 32 bits is the next one of the Zip64 extra field.
 */
function createZip64Reader(extra: Buffer, rules: FileRules): (value: number) => number {
  let at = findExtraField(extra, 0x0001)
  return (value) => {
    if (value !== IN_ZIP64) return value
    if (at === undefined || at + 8 > extra.length) throw damagedArchive(rules)
    at += 8
    return Number(extra.readBigUInt64LE(at - 8))
  }
}

/** Returns where the content of an extra field begins. */
function findExtraField(extra: Buffer, id: number): number | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === id) return at + 4
  }
  return undefined
}

/** Finds the end record, which is last, except for a comment of up to 64 KB. */
function findEndRecord(zip: Buffer): number | undefined {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - 22 - 0xffff); at--) {
    if (zip.readUInt32LE(at) === END_RECORD) return at
  }
  return undefined
}

async function contentOf(zip: Buffer, entry: Entry, limit: number, rules: FileRules): Promise<Uint8Array> {
  const { offset, path, packedSize } = entry
  if (entry.isEncrypted) throw rules.refuse('is encrypted', path)
  if (offset + 30 > zip.length || zip.readUInt32LE(offset) !== LOCAL_HEADER) throw damagedArchive(rules)
  const start = offset + 30 + zip.readUInt16LE(offset + 26) + zip.readUInt16LE(offset + 28)
  if (start + packedSize > zip.length) throw damagedArchive(rules)
  const bytes = await inflate(zip.subarray(start, start + packedSize), entry, limit, rules)
  if (bytes.length > limit) throw overLimit(path, limit, rules)
  if (bytes.length !== entry.size || crc32(bytes) !== entry.crc) throw damagedFile(path, rules)
  return bytes
}

const inflateInThread = promisify(inflateRaw)

async function inflate(packed: Buffer, { method, path }: Entry, limit: number, rules: FileRules): Promise<Uint8Array> {
  if (method === 0) return packed
  if (method !== 8) throw rules.refuse(`is compressed with method ${method}, which is not supported`, path)
  try {
    return await inflateInThread(packed, { maxOutputLength: limit + 1 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw overLimit(path, limit, rules)
    throw damagedFile(path, rules)
  }
}

const overLimit = (path: string, limit: number, rules: FileRules) =>
  limit < rules.limits.fileBytes ? totalTooLarge(rules) : fileTooLarge(rules, path)

const damagedFile = (path: string, { refuse }: FileRules) => refuse('is damaged in the archive', path)
const damagedArchive = ({ refuse }: FileRules) => refuse('is a damaged zip archive')
