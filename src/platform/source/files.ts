import { createPathRegistry, type FileRules, faultOfPath } from './paths.ts'

/** The bytes of files by path. Paths are relative and use `/`. */
export type SourceFiles = Map<string, Uint8Array>

/** The files that a reader found. */
export interface FilesRead {
  files: SourceFiles
  /** Paths of symbolic links that the reader left out. */
  skippedLinks: string[]
}

/** Selects the files to read from all paths of a source. The reader does not open other files. */
export type SelectFiles = (paths: readonly string[]) => Selected | Promise<Selected>
type Selected = { has(path: string): boolean }

export const selectAll: SelectFiles = () => ({ has: () => true })

/** Collects files and enforces the limits and path rules. */
export function collectFiles(rules: FileRules) {
  const { limits, refuse } = rules
  const files: SourceFiles = new Map()
  const registry = createPathRegistry(rules)
  let total = 0
  return {
    files,
    /** The maximum size of the next file, in bytes. */
    get room() {
      return Math.min(limits.fileBytes, limits.totalBytes - total)
    },
    /** @throws Error of `rules.refuse` */
    add(path: string, bytes: Uint8Array): void {
      const fault = faultOfPath(path, rules)
      if (fault) throw refuse(fault, path)
      const conflict = registry.add(path)
      if (conflict === path) throw refuse('exists twice', path)
      if (conflict !== undefined) {
        throw refuse(`conflicts with ${conflict}: they are the same on some file systems`, path)
      }
      if (files.size === limits.files) throw tooManyFiles(rules)
      if (bytes.length > limits.fileBytes) throw fileTooLarge(rules, path)
      total += bytes.length
      if (total > limits.totalBytes) throw totalTooLarge(rules)
      files.set(path, bytes)
    },
  }
}

export const tooManyFiles = ({ limits, refuse }: FileRules) => refuse(`has more than ${limits.files} files`)
export const fileTooLarge = ({ limits, refuse }: FileRules, path: string) =>
  refuse(`is larger than ${limits.fileBytes} bytes`, path)
export const totalTooLarge = ({ limits, refuse }: FileRules) =>
  refuse(`is larger than ${limits.totalBytes} bytes together`)

/** Returns the files below a folder, by their paths below it. @param prefix ends in `/`; '' returns all files */
export function filesBelow(files: SourceFiles, prefix: string): SourceFiles {
  if (prefix === '') return files
  const inside = [...files].filter(([path]) => path.startsWith(prefix))
  return new Map(inside.map(([path, bytes]) => [path.slice(prefix.length), bytes]))
}

/** Decodes UTF-8 text without its byte order mark. Returns undefined if the bytes are not UTF-8 or contain NUL. */
export const textOf = (bytes: Uint8Array): string | undefined => decode(bytes, false)

/** Decodes like `textOf` but preserves the byte order mark. Encoding the text returns the same bytes. */
export const exactTextOf = (bytes: Uint8Array): string | undefined => decode(bytes, true)

function decode(bytes: Uint8Array, ignoreBOM: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
