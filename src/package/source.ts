import { semantic } from '../references.ts'
import { below, collectFiles, faultOfPath, type PackageFiles } from './files.ts'
import type { FileContent, Source } from './import-body.ts'
import type { PackageWarning } from './package.ts'

/** The files of a source. */
export interface Fetched {
  files: PackageFiles
  /** Where they come from, for a person. */
  description: string
  /** The commit that they are of, where it is known. */
  commit: string | null
  warnings: PackageWarning[]
}

export async function fetchSource(source: Source): Promise<Fetched> {
  if (source.type === 'inline') {
    const files = inFolder(decodeFiles(source.files), source.rootPath ?? null)
    return { files, description: 'files that were sent', commit: null, warnings: [] }
  }
  throw semantic('source.type', `${source.type} is not read yet`)
}

/** Decodes the files of a JSON body. */
export function decodeFiles(sent: Record<string, FileContent>): PackageFiles {
  const collected = collectFiles()
  for (const [path, content] of Object.entries(sent)) {
    collected.add(path, typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.data, 'base64'))
  }
  return collected.files
}

/** The files below the folder that a body names. An export names one that its files are not in: then it is all of them. */
function inFolder(files: PackageFiles, folder: string | null): PackageFiles {
  const prefix = (folder ?? '').replaceAll(/^\/+|\/+$/g, '')
  if (prefix === '') return files
  const fault = faultOfPath(prefix)
  if (fault) throw semantic('source.rootPath', fault)
  const inside = below(files, `${prefix}/`)
  return inside.size > 0 ? inside : files
}
