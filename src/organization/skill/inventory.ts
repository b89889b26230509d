import { hash } from 'node:crypto'
import type { SourceFiles } from '../../platform/source/files.ts'

export const FILE_KINDS = ['skill', 'markdown', 'script', 'asset'] as const
export type FileKind = (typeof FILE_KINDS)[number]

export const TRUST_LEVELS = ['markdown_only', 'assets', 'scripts_executables'] as const
export type TrustLevel = (typeof TRUST_LEVELS)[number]

/** A file of a skill, without its content. */
export interface InventoryEntry {
  path: string
  kind: FileKind
  bytes: number
  sha256: string
}

/** Lists the files of one skill by path, each with its kind, which its name and its first bytes decide. */
export const takeInventory = (files: SourceFiles): InventoryEntry[] =>
  [...files]
    .map(([path, content]) => ({
      path,
      kind: kindOf(path, content),
      bytes: content.length,
      sha256: hash('sha256', content),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))

/** Returns the riskiest content of a skill: only text, other files, or programs. */
export function trustLevelOf(inventory: readonly InventoryEntry[]): TrustLevel {
  if (inventory.some((file) => file.kind === 'script')) return 'scripts_executables'
  return inventory.some((file) => file.kind === 'asset') ? 'assets' : 'markdown_only'
}

/** Identifies all files of a skill: equal digests mean equal files. */
export const digestOf = (inventory: readonly InventoryEntry[]): string =>
  hash('sha256', JSON.stringify(inventory.map(({ path, sha256 }) => [path, sha256])))

function kindOf(path: string, content: Uint8Array): FileKind {
  if (path === 'SKILL.md') return 'skill'
  if (/(^|\/)scripts\//i.test(path) || PROGRAM_NAME.test(path) || isProgram(content)) return 'script'
  return /\.(md|markdown|txt)$/i.test(path) ? 'markdown' : 'asset'
}

const PROGRAM_NAME =
  /\.(sh|bash|zsh|fish|ps1|bat|cmd|com|exe|dll|so|dylib|js|mjs|cjs|jsx|ts|mts|cts|tsx|py|pyw|pyc|rb|pl|php|lua|go|rs|java|jar|class|wasm|swift|scpt|applescript|c|cc|cpp|h|r|awk|vbs|deb|rpm|whl)$|(^|\/)(makefile|justfile|dockerfile)$/i

/** The first bytes of a script, and of programs for Linux, Windows and macOS. */
const PROGRAM_STARTS = ['2321', '7f454c46', '4d5a', 'cffaedfe', 'cefaedfe', 'feedfacf', 'feedface', 'cafebabe']

function isProgram(content: Uint8Array): boolean {
  const start = Buffer.from(content.subarray(0, 4)).toString('hex')
  return PROGRAM_STARTS.some((program) => start.startsWith(program))
}
