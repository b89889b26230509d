import { AppError } from '../../platform/errors.ts'
import { type FileRules, printablePath } from '../../platform/source/paths.ts'

/** The rules for the files of a package, from every source. */
export const PACKAGE_FILES: FileRules = {
  limits: {
    files: 10_000,
    fileBytes: 5_000_000,
    totalBytes: 20_000_000,
    pathLength: 300,
    depth: 20,
  },
  // Most files of a package become rows. Skills become files on disk and have stricter rules of their own.
  portablePaths: false,
  symbolicLinks: 'refuse',
  refuse(fault, path) {
    if (path === undefined) {
      const message = `The package ${fault}.`
      return new AppError('semantic', message, { fields: [{ path: 'source', message }] })
    }
    const displayed = printablePath(path)
    return new AppError('semantic', `${displayed}: ${fault}`, { fields: [{ path: displayed, message: fault }] })
  },
}
