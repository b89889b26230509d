import { filesBelow, type SourceFiles } from '../../platform/source/files.ts'

/**
 * Returns the files below a folder of a package, or undefined if there are
 * none. Archives often have one top folder that contains all files. The path
 * may omit that folder.
 */
export function filesOfFolder(files: SourceFiles, folder: string): SourceFiles | undefined {
  const prefix = folder.replaceAll(/^(\.?\/)+|\/+$/g, '')
  if (prefix === '' || prefix === '.') return files
  const tops = new Set([...files.keys()].map((path) => path.split('/')[0]!))
  const prefixes = [`${prefix}/`, ...(tops.size === 1 ? [`${[...tops][0]}/${prefix}/`] : [])]
  return prefixes.map((one) => filesBelow(files, one)).find((inside) => inside.size > 0)
}
