import { unprocessable } from '../../platform/errors.ts'

/** The limits of one import; sizes in bytes. */
export const LIMITS = {
  files: 2_000,
  totalBytes: 16 * 1024 * 1024,
  filesOfSkill: 500,
  skillBytes: 4 * 1024 * 1024,
  fileBytes: 1024 * 1024,
  pathLength: 300,
  depth: 12,
} as const

/** Files by their path, relative and with forward slashes. */
export type Files = ReadonlyMap<string, Uint8Array>

/**
 * Refuses files that are too many or too large, or whose paths could land
 * outside of their folder, or on one another on some file system.
 *
 * @throws AppError 422, which names the path
 */
export function checkFiles(files: Files): void {
  if (files.size > LIMITS.files) throw tooMuch(`has ${files.size} files; ${LIMITS.files} are allowed`)
  const taken = new Map<string, string>()
  let total = 0
  for (const [path, content] of files) {
    const fault = faultOfPath(path)
    if (fault) throw badFile(path, fault)
    if (content.length > LIMITS.fileBytes) throw badFile(path, `is larger than ${LIMITS.fileBytes} bytes`)
    total += content.length
    const other = claim(taken, path)
    if (other !== undefined) throw badFile(path, `cannot be beside ${other}: they are the same on some file systems`)
  }
  if (total > LIMITS.totalBytes) throw tooMuch(`is larger than ${LIMITS.totalBytes} bytes in all`)
}

/** What is wrong with a path, as a clause; undefined when nothing is. */
export function faultOfPath(path: string): string | undefined {
  if (path === '') return 'must not be empty'
  if (path.length > LIMITS.pathLength) return `is longer than ${LIMITS.pathLength} characters`
  if (!path.isWellFormed() || /\p{C}/u.test(path)) return 'has a character that cannot be printed'
  if (/[\\:]/.test(path)) return 'must not have a backslash or a colon'
  if (path.startsWith('/')) return 'must be relative'
  const parts = path.split('/')
  if (parts.length > LIMITS.depth) return `is deeper than ${LIMITS.depth} folders`
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'must not have empty parts, . or ..'
  // A file system that drops these would make two names one.
  if (parts.some((part) => /[. ]$|^ /.test(part))) return 'has a part that ends in a dot or has a blank at an end'
  if (parts.some((part) => Buffer.byteLength(part) > 255)) return 'has a part of more than 255 bytes'
  if (parts.some((part) => part.toLowerCase() === '.git')) return 'is inside of a .git folder'
  return undefined
}

/**
 * Notes a path, as a file, and its folders. Returns the path that it cannot be
 * beside: one that differs by case or by the form of its letters only, or a
 * file where it has a folder.
 */
function claim(taken: Map<string, string>, path: string): string | undefined {
  const parts = path.split('/')
  for (let n = 1; n <= parts.length; n++) {
    const part = parts.slice(0, n).join('/')
    const entry = n === parts.length ? part : `${part}/`
    const folded = part.normalize('NFKC').toLowerCase()
    const other = taken.get(folded)
    if (other === undefined) taken.set(folded, entry)
    // The same folder again is the only thing that may be there twice.
    else if (other !== entry || n === parts.length) return other
  }
  return undefined
}

/** Refuses one of the files of an import. */
export const badFile = (path: string, fault: string) =>
  unprocessable(`files.${path.toWellFormed().replaceAll(/\p{C}/gu, '�').slice(0, 200)}`, fault)

export const tooMuch = (fault: string) => unprocessable('files', `the import ${fault}`)
