import { compareNaturally } from '../../platform/compare.ts'
import { AppError } from '../../platform/errors.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { readMarkdownFile } from './markdown-file.ts'

/** Returns the folders with a COMPANY.md that are not below another such folder. '' is the top folder. */
function companyFoldersOf(files: SourceFiles): string[] {
  const folders = [...files.keys()]
    .filter((path) => /(^|\/)COMPANY\.md$/.test(path))
    .map((path) => path.slice(0, -'COMPANY.md'.length))
  return folders
    .filter((folder) => !folders.some((other) => other !== folder && folder.startsWith(other)))
    .sort(compareNaturally)
}

/**
 * Refuses a source with several companies. `details.companies` lists them with
 * the path that selects each.
 *
 * @throws AppError 422
 */
export function refuseSeveralCompanies({
  files,
  folder,
}: {
  files: SourceFiles
  /** The field of the source that selects a folder, and its value. Null if the source has no such field. */
  folder: { field: string; value: string } | null
}): void {
  const folders = companyFoldersOf(files)
  if (folders.length < 2 || folder === null) return
  const companies = folders.map((one) => ({
    path: [folder.value, one.slice(0, -1)].filter(Boolean).join('/'),
    name: nameOf(files, one),
  }))
  const names = companies.slice(0, 20).map(({ path }) => path)
  const field = `source.${folder.field}`
  const message = `The source contains ${companies.length} companies: ${names.join(', ')}${
    companies.length > 20 ? ', …' : ''
  }. Choose one with ${field}.`
  throw new AppError('semantic', message, {
    fields: [{ path: field, message: 'choose one of the companies' }],
    companies,
  })
}

const nameOf = (files: SourceFiles, folder: string) =>
  readMarkdownFile(files, `${folder}COMPANY.md`, '', { problems: [], warnings: [] })?.fields.line('name') ?? null
