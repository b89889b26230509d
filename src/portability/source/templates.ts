import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { unprocessable } from '../../platform/errors.ts'
import { packageRoot } from '../../platform/package-root.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { readFolder } from '../../platform/source/folder.ts'
import { PACKAGE_FILES } from './package-files.ts'

const folder = () => path.join(packageRoot(), 'templates')

/** Lists the names of the bundled templates. */
export const listTemplateNames = async (): Promise<string[]> => (await readdir(folder())).sort()

/** Reads the files of a bundled template. @throws AppError 422 that lists the existing templates */
export async function readTemplate(name: string): Promise<SourceFiles> {
  const names = await listTemplateNames()
  if (!names.includes(name)) throw unprocessable('source.name', `must be one of ${names.join(', ')}`)
  return (await readFolder(path.join(folder(), name), PACKAGE_FILES)).files
}
