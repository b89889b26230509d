import { createHash } from 'node:crypto'
import { closeSync, createReadStream, createWriteStream, fstatSync, mkdirSync, openSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import * as v from 'valibot'
import { realPath } from '../../platform/real-path.ts'
import { isChanged, openChecked } from '../../runtime/process/checked-path.ts'
import { CliError, EXIT, lineOf } from '../connection/exit-codes.ts'
import { ARCHIVE_FORMAT, Manifest } from './manifest.ts'
import { FOLDERS, KEYS_FOLDER } from './names.ts'

/** A file to put into an archive. */
export interface ArchiveFile {
  /** Its path in the archive, with `/`. */
  name: string
  /** Where it is, absolute. */
  file: string
  /** The real path that it must still have when it is read. Absent for any. */
  real?: string
  bytes: number
  /** Its permissions for its owner. */
  mode: number
}

const MANIFEST = 'manifest.json'

/** Whether an entry of an archive may be extracted. Other names could write outside the folder. */
const isAllowed = (name: string) =>
  name === MANIFEST ||
  name === 'service.db' ||
  name === 'config.json' ||
  ([...FOLDERS, KEYS_FOLDER].some((folder) => name.startsWith(`${folder}/`)) &&
    name.split('/').every((part) => part !== '' && part !== '.' && part !== '..') &&
    !/[\\\0]/.test(name))

/** Lists the regular files below a folder, without symbolic links and sockets, which refer to this machine. */
export async function filesBelow(folder: string, name: string): Promise<ArchiveFile[]> {
  return listBelow(folder, await realPath(folder), name)
}

async function listBelow(folder: string, real: string, name: string): Promise<ArchiveFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(ignoreMissing([]))
  const found = await Promise.all(
    entries.map(async (entry) => {
      const [file, realFile] = [path.join(folder, entry.name), path.join(real, entry.name)]
      const inArchive = `${name}/${entry.name}`
      if (entry.isDirectory()) return listBelow(file, realFile, inArchive)
      if (!entry.isFile()) return []
      const stat = await lstat(file).catch(ignoreMissing(undefined))
      return stat ? [{ name: inArchive, file, real: realFile, bytes: stat.size, mode: stat.mode & 0o700 }] : []
    }),
  )
  return found.flat()
}

const ignoreMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return value
    throw error
  }

/**
 * Writes a gzip-compressed tar file: the files in their order, then the
 * manifest with the size and hash of each. The written file is on the disk
 * when this resolves.
 *
 * @param out a file that does not exist yet
 * @param onBytes receives the number of bytes of each read
 */
export async function writeArchive(
  out: string,
  files: readonly ArchiveFile[],
  about: Omit<Manifest, 'files' | 'format'>,
  onBytes: (bytes: number) => void,
): Promise<Manifest> {
  const tar = pack()
  const written = pipeline(
    tar,
    createGzip({ level: constants.Z_BEST_SPEED }),
    createWriteStream(out, { flags: 'wx', mode: 0o600, flush: true }),
  )
  const add = async () => {
    const manifest: Manifest = { format: ARCHIVE_FORMAT, ...about, files: {} }
    for (const { name, bytes, mode, ...at } of files) {
      const measure = createMeasure(onBytes)
      const entry = tar.entry({ name, size: bytes, mode, mtime: new Date(about.createdAt) })
      await pipeline(exactly(at, bytes), measure.pass, entry)
      manifest.files[name] = measure.result()
    }
    tar.entry({ name: MANIFEST, mode: 0o600 }, JSON.stringify(manifest, null, 2))
    tar.finalize()
    return manifest
  }
  const failed = (error: Error) => {
    tar.destroy(error)
    throw error
  }
  const [manifest] = await Promise.all([add().catch(failed), written])
  return manifest
}

/**
 * Reads a fixed number of bytes of a file, because the archive states the size
 * before the content. An agent may write its files meanwhile: if a file grew,
 * the rest is omitted; if it shrank or is gone, zeros are appended.
 */
async function* exactly(at: Place, bytes: number): AsyncGenerator<Buffer> {
  if (bytes === 0) return
  let left = bytes
  const fd = openPlain(at)
  const content = fd === undefined ? [] : createReadStream('', { fd, end: bytes - 1, start: 0 })
  for await (const chunk of content as AsyncIterable<Buffer>) {
    left -= chunk.length
    yield chunk
  }
  for (; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left)
}

type Place = Pick<ArchiveFile, 'file' | 'real'>

/**
 * Opens a regular file. Returns undefined if an agent removed it since it was
 * listed, or replaced it, or a folder above it, by a link or a pipe.
 */
function openPlain({ file, real }: Place): number | undefined {
  if (real === undefined) return openSync(file, 'r')
  let fd: number | undefined
  try {
    fd = openChecked({ path: file, real })
    if (fstatSync(fd).isFile()) return fd
  } catch (error) {
    if (!isChanged(error)) throw error
  }
  if (fd !== undefined) closeSync(fd)
  return undefined
}

/** Measures the bytes that pass through it. */
function createMeasure(onBytes: (bytes: number) => void = () => {}) {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    async *pass(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        hash.update(chunk)
        bytes += chunk.length
        onBytes(chunk.length)
        yield chunk
      }
    },
    result: () => ({ bytes, sha256: hash.digest('hex') }),
  }
}

const ZEROS = Buffer.alloc(64 * 1024)

/**
 * Extracts an archive into a folder and compares every file with the manifest.
 *
 * @param folder an empty folder
 * @param onBytes receives the number of bytes of each read of the archive
 * @throws CliError for a file that is no backup, was cut off, or was altered
 */
export async function extractArchive(
  archive: string,
  folder: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<Manifest> {
  const tar = extract()
  const found = new Map<string, { bytes: number; sha256: string }>()
  let manifestText: string | undefined
  const reading = pipeline(createReadStream(archive), createMeasure(onBytes).pass, createGunzip(), tar)
  const writing = async () => {
    for await (const entry of tar) {
      const { name, type, mode = 0o600 } = entry.header
      if (type !== 'file' || !isAllowed(name)) throw damaged(archive, `it has the unexpected entry ${name}`)
      if (name === MANIFEST) {
        manifestText = await text(entry)
        continue
      }
      const file = path.join(folder, name)
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      const measure = createMeasure()
      const target = createWriteStream(file, { flags: 'wx', mode: mode & 0o700, flush: true })
      await pipeline(entry as AsyncIterable<Buffer>, measure.pass, target)
      found.set(name, measure.result())
    }
  }
  const failed = (error: Error) => {
    tar.destroy(error)
    throw error
  }
  try {
    await Promise.all([reading, writing().catch(failed)])
  } catch (error) {
    if (error instanceof CliError || (error as NodeJS.ErrnoException).syscall) throw error
    throw damaged(archive, `it cannot be read to its end (${lineOf(error)})`)
  }
  if (manifestText === undefined) throw damaged(archive, 'it has no manifest')
  const manifest = readManifest(archive, manifestText)
  for (const [name, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const file = found.get(name)
    if (file?.bytes !== bytes || file.sha256 !== sha256) throw damaged(archive, `${name} is missing or altered`)
    found.delete(name)
  }
  for (const name of found.keys()) throw damaged(archive, `the manifest does not list ${name}`)
  return manifest
}

function readManifest(archive: string, json: string): Manifest {
  let manifest: Manifest
  try {
    manifest = v.parse(Manifest, JSON.parse(json))
  } catch (error) {
    throw damaged(archive, `its manifest cannot be read (${lineOf(error)})`)
  }
  if (manifest.format > ARCHIVE_FORMAT) {
    throw new CliError(
      EXIT.failure,
      `${archive} was written by a newer version of service (${manifest.version}). Upgrade service to read it.`,
    )
  }
  return manifest
}

const damaged = (archive: string, why: string) =>
  new CliError(EXIT.failure, `${archive} is not a complete backup: ${why}. Use another one.`)
