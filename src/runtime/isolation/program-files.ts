import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { isInside } from '../../platform/real-path.ts'
import { findProgram } from '../process/capabilities.ts'

/** The files that a program needs, outside the folders of the system. Paths are absolute. */
export interface ProgramFiles {
  /** Folders and files, and the symbolic links by which they are found. */
  files: readonly ProgramFile[]
  /** The path at which each program was found, with the targets of its chain of links. */
  chains: readonly (readonly string[])[]
}

/** A file or folder. With `target`, it is a symbolic link. */
export interface ProgramFile {
  path: string
  target?: string
}

/** The folders of the root directory that belong to the system. Files of users and changing data (/home, /root, /var, /run, /mnt) do not. */
export const SYSTEM = /^(usr|s?bin|lib(32|64|x32)?|etc|opt|nix|gnu|sys)$/

export const isOfSystem = (file: string): boolean => SYSTEM.test(file.split('/')[1]!)

/**
 * Finds the files of programs that are installed outside the system, such as in
 * the home directory: each step of their links, and the modules beside them.
 * A link stays a link, because a program finds its modules by its real path.
 */
export function findProgramFiles(names: readonly string[], searchPath: string, home: string): ProgramFiles {
  const chains = names.map((name) => stepsOf(findProgram(name, searchPath))).filter((steps) => steps.length > 0)
  const files = chains.flatMap((steps) =>
    steps.map((step, n): ProgramFile => {
      const folder = folderOf(step)
      const isLink = folder === step && n < steps.length - 1
      return isLink ? { path: step, target: steps[n + 1]! } : { path: folder }
    }),
  )
  const byPath = new Map(files.map((file) => [file.path, file]))
  return { files: [...byPath.values()].filter((file) => !isOfSystem(file.path) && !isInside(file.path, home)), chains }
}

/** Returns a file and each target of its chain of symbolic links. */
function stepsOf(file: string | null): string[] {
  if (file === null) return []
  if (!lstatSync(file).isSymbolicLink()) return [file]
  return [file, ...stepsOf(path.resolve(realpathSync(path.dirname(file)), readlinkSync(file)))]
}

/** Returns the outermost `node_modules` of a module, or the folder if it is named `bin`, or the file alone. */
function folderOf(file: string): string {
  const modules = /^(.*?\/node_modules)\//.exec(file)?.[1]
  if (modules) return modules
  return path.basename(path.dirname(file)) === 'bin' ? path.dirname(file) : file
}
