import { decodeFileContent, type FileContent } from '../../http/file-content.ts'
import { unprocessable } from '../../platform/errors.ts'
import { collectFiles, type SourceFiles } from '../../platform/source/files.ts'
import { printablePath } from '../../platform/source/paths.ts'
import { PACKAGE_FILES } from './package-files.ts'
import { filesOfFolder } from './root.ts'

/** The files of a package in a request body, as it contains them. */
export interface InlineFiles {
  inline: Record<string, FileContent>
  rootPath: string | null
}

/** Decodes inline files. @throws AppError 422 if a package must not contain such a file, or if `rootPath` has no files */
export function decodeInlineFiles({ inline, rootPath }: InlineFiles): SourceFiles {
  const collected = collectFiles(PACKAGE_FILES)
  for (const [path, content] of Object.entries(inline)) collected.add(path, decodeFileContent(content))
  return inFolder(collected.files, rootPath)
}

/**
 * Returns the files below a folder. An export has paths that do not start with
 * its `rootPath`; it has a COMPANY.md at the top and a `rootPath` of one part.
 */
function inFolder(files: SourceFiles, folder: string | null): SourceFiles {
  const inside = filesOfFolder(files, folder ?? '')
  if (inside) return inside
  if (files.has('COMPANY.md') && !folder!.includes('/')) return files
  throw unprocessable('source.rootPath', `there are no files below ${printablePath(folder!)}`)
}
