import { unprocessable } from '../../platform/errors.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { collectFiles } from '../../platform/source/files.ts'
import { type FileRules, printablePath } from '../../platform/source/paths.ts'

/** The limits of one skill. Sizes are in bytes. */
export const SKILL_LIMITS = { files: 500, bytes: 4 * 1024 * 1024 } as const

/** The rules for the files of all skills of one import, from every source. */
export const SKILL_FILES: FileRules = {
  limits: {
    files: 2_000,
    fileBytes: 1024 * 1024,
    totalBytes: 16 * 1024 * 1024,
    pathLength: 300,
    depth: 12,
  },
  // A run gets its skills as files on disk.
  portablePaths: true,
  symbolicLinks: 'skip',
  refuse: (fault, path) =>
    path === undefined ? unprocessable('files', `the import ${fault}`) : badSkillFile(path, fault),
}

/**
 * Refuses a skill that has more files or bytes than `SKILL_LIMITS`.
 *
 * @param skillFile the path of its SKILL.md, for the error
 * @throws AppError 422
 */
export function assertSkillSize(skillFile: string, files: ReadonlyMap<string, Uint8Array>): void {
  const bytes = [...files.values()].reduce((sum, content) => sum + content.length, 0)
  if (files.size > SKILL_LIMITS.files)
    throw badSkillFile(skillFile, `belongs to a skill of more than ${SKILL_LIMITS.files} files`)
  if (bytes > SKILL_LIMITS.bytes)
    throw badSkillFile(skillFile, `belongs to a skill of more than ${SKILL_LIMITS.bytes} bytes`)
}

/**
 * Validates the paths, the number and the sizes of skill files.
 *
 * @throws AppError 422 that names the path
 */
export function validateSkillFiles(files: ReadonlyMap<string, Uint8Array>): SourceFiles {
  const collected = collectFiles(SKILL_FILES)
  for (const [path, content] of files) collected.add(path, content)
  return collected.files
}

/** Builds the error for one file of an import. */
export const badSkillFile = (path: string, fault: string) => unprocessable(`files.${printablePath(path)}`, fault)
