/** Limits for the files of one source. Sizes are in bytes and apply to the unpacked files. */
export interface FileLimits {
  files: number
  fileBytes: number
  totalBytes: number
  pathLength: number
  depth: number
}

/** The rules for the files that a reader accepts, and the error for a violation. */
export interface FileRules {
  limits: FileLimits
  /** Whether the files will be written to a disk: a path must then be valid, and distinct, on every file system. */
  portablePaths: boolean
  symbolicLinks: 'refuse' | 'skip'
  /**
   * Builds the error for a refusal.
   *
   * @param fault a clause without its subject, such as `is larger than 5 bytes`
   * @param path the file at fault; without it, the source as a whole is at fault
   */
  refuse(fault: string, path?: string): Error
}

/** Returns the fault of a relative path as a clause; undefined if the path is valid. */
export function faultOfPath(
  path: string,
  { limits, portablePaths }: Pick<FileRules, 'limits' | 'portablePaths'>,
): string | undefined {
  if (path === '') return 'must not be empty'
  if (path.length > limits.pathLength) return `is longer than ${limits.pathLength} characters`
  const unprintable = portablePaths ? /\p{C}/u : /\p{Cc}/u
  if (!path.isWellFormed() || unprintable.test(path)) return 'has a character that cannot be printed'
  if (path.includes('\\')) return 'must not contain a backslash'
  if (portablePaths && path.includes(':')) return 'must not contain a colon'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'must be relative, not an absolute path'
  const parts = path.split('/')
  if (parts.includes('..')) return 'must not contain ..'
  if (parts.includes('') || parts.includes('.')) return 'must not have empty parts or .'
  if (parts.length > limits.depth) return `is deeper than ${limits.depth} folders`
  return portablePaths ? faultOfParts(parts) : undefined
}

function faultOfParts(parts: readonly string[]): string | undefined {
  // Some file systems drop these characters, which would make two names the same.
  if (parts.some((part) => /[. ]$|^ /.test(part)))
    return 'has a part that ends in a dot, or starts or ends with a space'
  if (parts.some((part) => Buffer.byteLength(part) > 255)) return 'has a part of more than 255 bytes'
  if (parts.some((part) => part.toLowerCase() === '.git')) return 'is inside a .git folder'
  return undefined
}

/** Detects paths that are the same file on some file systems. */
export function createPathRegistry({ portablePaths }: Pick<FileRules, 'portablePaths'>) {
  const entries = new Map<string, string>()
  const add = (entry: string, key: string) => {
    const existing = entries.get(key)
    if (existing === undefined) entries.set(key, entry)
    return existing
  }
  return {
    /** Adds the path of a file. Returns the path that it conflicts with, or undefined. */
    add(path: string): string | undefined {
      if (!portablePaths) return add(path, path.toLowerCase())
      const parts = path.split('/')
      for (let n = 1; n <= parts.length; n++) {
        const part = parts.slice(0, n).join('/')
        const isFile = n === parts.length
        const entry = isFile ? part : `${part}/`
        const existing = add(entry, part.normalize('NFKC').toLowerCase())
        // Only a folder may occur again.
        if (existing !== undefined && (existing !== entry || isFile)) return existing
      }
      return undefined
    },
  }
}

/** Makes a path safe to print in an error: no control characters, limited length. */
export function printablePath(path: string): string {
  const plain = path.toWellFormed().replaceAll(/\p{C}/gu, '�')
  return plain.length > 120 ? `${plain.slice(0, 120)}…` : plain
}
