import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { FOLDERS, KEYS_FOLDER } from './names.ts'

/** The file of a restore with checked files. After a crash, the next start finishes it. */
export const pendingFile = (dataDir: string) => path.join(dataDir, 'restore-pending.json')

/** The prefix of the name of a restore's temporary folder in the data directory. */
export const RESTORE_WORK = '.restore-'

export interface Pending {
  /** The folder of the extracted files. */
  from: string
  /** The folder for the previous content of the data directory. */
  keepIn: string
  /** First the old files are moved aside, then the restored ones into place. */
  step: 'move_aside' | 'move_in'
}

/** The files that a restore replaces in the data directory. Other files, such as logs of runs, remain. */
const REPLACED = ['service.db-open', 'service.db-wal', 'service.db-shm', 'service.db', 'config.json', ...FOLDERS]

/**
 * Finishes a pending restore, if there is one. It repeats a step that a crash
 * interrupted. The caller must hold the lock of the data directory.
 */
export function finishRestore(dataDir: string): void {
  const file = pendingFile(dataDir)
  if (!existsSync(file)) return
  const pending = JSON.parse(readFileSync(file, 'utf8')) as Pending
  const { from, keepIn } = pending
  const names = existsSync(path.join(from, KEYS_FOLDER)) ? [...REPLACED, KEYS_FOLDER] : REPLACED
  if (pending.step === 'move_aside') {
    moveAll(names, dataDir, keepIn)
    writePending(dataDir, { ...pending, step: 'move_in' })
  }
  moveAll([...REPLACED, KEYS_FOLDER], from, dataDir)
  rmSync(file)
  syncFolder(dataDir)
  rmSync(path.dirname(from), { recursive: true, force: true })
}

function moveAll(names: readonly string[], from: string, to: string): void {
  const present = names.filter((name) => existsSync(path.join(from, name)))
  if (present.length === 0) return
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of present) renameSync(path.join(from, name), path.join(to, name))
  syncFolder(to)
}

export function writePending(dataDir: string, pending: Pending): void {
  const file = pendingFile(dataDir)
  writeFileSync(`${file}.tmp`, JSON.stringify(pending), { mode: 0o600, flush: true })
  renameSync(`${file}.tmp`, file)
  syncFolder(dataDir)
}

/** Makes the names in a folder durable. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
