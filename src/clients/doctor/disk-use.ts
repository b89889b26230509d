import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { readConfig } from '../../platform/config.ts'
import { sizeOnDisk } from '../../platform/folder-size.ts'
import type { Check } from './check.ts'

/** The kind of data in each folder of a data directory. Everything else counts as `other`. */
const KINDS: Readonly<Record<string, string>> = {
  runs: 'run logs',
  assets: 'uploads',
  skills: 'skills',
  worktrees: 'worktrees',
  backups: 'backups',
  logs: 'logs',
}

/** Measures the disk space of each kind of data, and checks the size limit of run logs. */
export const diskUseCheck: Check = {
  id: 'disk_use',
  title: 'Disk use',
  async run({ dataDir }) {
    if (!statSync(dataDir, { throwIfNoEntry: false })?.isDirectory())
      return [{ status: 'ok', message: 'There is no data yet.' }]
    const bytes: Record<string, number> = { database: 0 }
    for (const kind of Object.values(KINDS)) bytes[kind] = 0
    for (const name of readdirSync(dataDir)) {
      const kind = /^service\.db/.test(name) ? 'database' : (KINDS[name] ?? 'other')
      bytes[kind] = (bytes[kind] ?? 0) + (await sizeOnDisk(path.join(dataDir, name)))
    }
    const message = Object.entries(bytes)
      .map(([kind, n]) => `${kind} ${sizeText(n)}`)
      .join(', ')
    const { runLogBytes } = readConfig({ dataDir }, {}).retention
    const details = { bytes, runLogBytes }
    if (runLogBytes === 0 || bytes['run logs']! <= runLogBytes) return [{ status: 'ok', message, details }]
    const warning = `Run logs take ${sizeText(bytes['run logs']!)}, more than the limit of ${sizeText(runLogBytes)}.`
    const hint =
      'While the server is running, it deletes the oldest logs each hour. The limit is retention.runLogBytes in config.json.'
    return [{ status: 'warning', message: `${warning} All: ${message}`, hint, details }]
  },
}

/** The units of `sizeText`. */
const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** Formats a number of bytes: `981.5 kB`. */
export function sizeText(bytes: number): string {
  const step = bytes === 0 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), UNITS.length - 1)
  return `${Number((bytes / 1024 ** step).toFixed(1))} ${UNITS[step]}`
}
