import { AppError } from '../../platform/errors.ts'

/** Files of a package: their bytes by their paths, which use `/`, are relative and lead nowhere else. */
export type PackageFiles = Map<string, Uint8Array>

/** How large a package may be. Bytes are those of the unpacked files. */
export const LIMITS = {
  files: 10_000,
  fileBytes: 5_000_000,
  totalBytes: 20_000_000,
  pathLength: 300,
  depth: 20,
} as const

/** Refuses a package for what it is made of. */
export const badPackage = (message: string, path?: string) =>
  new AppError('semantic', path === undefined ? message : `${shown(path)}: ${message}`, {
    fields: [{ path: path === undefined ? 'source' : shown(path), message }],
  })

/**
 * Collects files under the limits: a path that leads out of the package, is
 * there twice, or differs from another only in case is refused, as is
 * whatever would make the package too large.
 */
export function collectFiles(limits: { files: number; fileBytes: number; totalBytes: number } = LIMITS) {
  const files: PackageFiles = new Map()
  const folded = new Map<string, string>()
  let total = 0
  return {
    files,
    add(path: string, bytes: Uint8Array): void {
      const fault = faultOfPath(path)
      if (fault) throw badPackage(fault, path)
      const twin = folded.get(path.toLowerCase())
      if (twin === path) throw badPackage('is in the package twice', path)
      if (twin !== undefined) throw badPackage(`differs from ${shown(twin)} in case only`, path)
      if (files.size === limits.files) throw tooManyFiles(limits.files)
      if (bytes.length > limits.fileBytes) throw tooLarge(path, limits.fileBytes)
      total += bytes.length
      if (total > limits.totalBytes) throw tooLargeTogether(limits.totalBytes)
      folded.set(path.toLowerCase(), path)
      files.set(path, bytes)
    },
  }
}

export const tooManyFiles = (limit: number) => badPackage(`The package has more than ${limit} files.`)
export const tooLarge = (path: string, limit: number) => badPackage(`is larger than ${limit} bytes`, path)
export const tooLargeTogether = (limit: number) =>
  badPackage(`The files of the package are larger than ${limit} bytes together.`)

/** What is wrong with a path inside a package; undefined when nothing is. */
export function faultOfPath(path: string): string | undefined {
  if (path === '') return 'is no path'
  if (path.length > LIMITS.pathLength) return `is longer than ${LIMITS.pathLength} characters`
  if (!path.isWellFormed() || /[\p{Cc}\\]/u.test(path)) return 'has characters that no path may have'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is an absolute path'
  const parts = path.split('/')
  if (parts.includes('..')) return 'leads out of the package'
  if (parts.includes('') || parts.includes('.')) return 'has an empty part'
  if (parts.length > LIMITS.depth) return `is deeper than ${LIMITS.depth} folders`
  return undefined
}

/**
 * The files as the package itself sees them: below the folder of its topmost
 * COMPANY.md, or below the one folder that an archive keeps everything in.
 */
export function atRoot(files: PackageFiles): PackageFiles {
  const named = [...files.keys()].filter((path) => /(^|\/)COMPANY\.md$/.test(path))
  const company = named.sort((a, b) => a.split('/').length - b.split('/').length || compare(a, b))[0]
  if (company !== undefined) return below(files, company.slice(0, -'COMPANY.md'.length))
  const tops = new Set([...files.keys()].map((path) => path.split('/')[0]!))
  const [top] = tops
  const isWrapped = tops.size === 1 && top !== undefined && !LAYOUT.has(top) && !files.has(top)
  return isWrapped ? below(files, `${top}/`) : files
}

/** The folders that the layout names: one of them is never a wrapping. */
const LAYOUT: ReadonlySet<string> = new Set(['agents', 'teams', 'projects', 'tasks', 'skills'])

/** The files below a folder, by their paths below it. @param prefix with its `/`; everything for '' */
export function below(files: PackageFiles, prefix: string): PackageFiles {
  if (prefix === '') return files
  const inside = [...files].filter(([path]) => path.startsWith(prefix))
  return new Map(inside.map(([path, bytes]) => [path.slice(prefix.length), bytes]))
}

/** The text of a file; undefined when it is none (not UTF-8, or with NUL in it). */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)
const encoder = new TextEncoder()

/** By code units, so that the order is the same on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Like `compare`, with numbers by their size: `x-2` comes before `x-10`. */
export function compareNaturally(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)]
  for (const [i, part] of left.entries()) {
    const other = right[i]
    if (other === undefined) return 1
    if (part === other) continue
    return (i % 2 === 1 && Number(part) - Number(other)) || compare(part, other)
  }
  return left.length - right.length
}

const shown = (path: string) => {
  const plain = path.toWellFormed().replaceAll(/\p{Cc}/gu, '?')
  return plain.length > 120 ? `${plain.slice(0, 120)}…` : plain
}
