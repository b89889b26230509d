import { closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import path from 'node:path'

/**
 * A log of any length in a folder of bounded size. It is kept in segments,
 * `log.<offset of its first byte>`; of a long one the first two and the last
 * two are kept, so that how it began and how it ended can both be read.
 */
export interface CappedLog {
  write(chunk: Buffer): void
  close(): void
}

const SEGMENTS = 4

/** @param limit how many bytes are kept at the most, about */
export function createCappedLog(folder: string, limit: number): CappedLog {
  const segmentSize = Math.max(1_024, Math.floor(limit / SEGMENTS))
  const segments: number[] = []
  let offset = 0
  let fd: number | undefined
  let room = 0

  function nextSegment() {
    if (fd !== undefined) closeSync(fd)
    if (segments.length === SEGMENTS) rmSync(segmentFile(folder, segments.splice(SEGMENTS / 2, 1)[0]!))
    segments.push(offset)
    fd = openSync(segmentFile(folder, offset), 'w', 0o600)
    room = segmentSize
  }

  return {
    write(chunk) {
      for (let rest = chunk; rest.length > 0; ) {
        if (room === 0) nextSegment()
        const part = rest.subarray(0, room)
        writeSync(fd!, part)
        offset += part.length
        room -= part.length
        rest = rest.subarray(part.length)
      }
    },
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

const segmentFile = (folder: string, offset: number) => path.join(folder, `log.${offset}`)

export interface LogPart {
  text: string
  /** Where to read on: the offset after this part, in the whole log. */
  nextOffset: number
}

/**
 * Reads a part of a log, while it grows or after. What was left out of a long
 * one stands as one line that says how much.
 *
 * @param maxBytes at least 4, so that any character fits
 */
export async function readLog(folder: string, offset: number, maxBytes: number): Promise<LogPart> {
  const segments = listSegments(await readdir(folder).catch(() => []))
  const index = segments.findLastIndex((start) => start <= offset)
  if (index === -1) return { text: '', nextOffset: offset }
  const read = await readSegment(segmentFile(folder, segments[index]!), offset - segments[index]!, maxBytes)
  const next = segments[index + 1]
  if (read.length > 0) {
    const whole = next === undefined || read.length === maxBytes ? withoutCutCharacter(read) : read
    return { text: whole.toString('utf8'), nextOffset: offset + whole.length }
  }
  if (next === undefined) return { text: '', nextOffset: offset }
  const gap = next - offset
  const part = await readLog(folder, next, maxBytes)
  return gap > 0 ? { ...part, text: `\n[... ${gap} bytes left out ...]\n${part.text}` } : part
}

const listSegments = (names: string[]) =>
  names
    .flatMap((name) => /^log\.(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)

async function readSegment(file: string, position: number, maxBytes: number): Promise<Buffer> {
  try {
    await using handle = await open(file)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, position)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    // Left out between the listing and the reading: as if it had never been kept.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

/** Leaves off the first bytes of a character whose last ones are not there yet. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** How many bytes a log's folder takes, for tests. */
export const listLogSegments = (folder: string) => listSegments(readdirSync(folder))
