import { existsSync } from 'node:fs'
import path from 'node:path'
import { createDb } from '../../platform/database/db.ts'
import { openReadOnly } from '../../platform/database/reader-thread.ts'
import { listSharedFolders, SHARED_FOLDER_HINT } from '../../runtime/rehearsal/shared-folder.ts'
import type { Check } from './check.ts'

/** Warns about folders in which several runs can work at the same time. */
export const foldersCheck: Check = {
  id: 'folders',
  title: 'Working folders',
  look({ dataDir }) {
    const file = path.join(dataDir, 'service.db')
    if (!existsSync(file)) return []
    const sqlite = openReadOnly(file)
    try {
      return listSharedFolders(createDb(sqlite)).map(({ folder, agents }) => ({
        status: 'warning' as const,
        message: `Several runs can work in ${folder} at the same time: ${agents.map(({ name, runs }) => (runs > 1 ? `${name} (${runs} runs)` : name)).join(', ')}.`,
        hint: SHARED_FOLDER_HINT,
        details: { folder, agents },
      }))
    } catch {
      return [] // the check of the database says what is wrong with it
    } finally {
      sqlite.close()
    }
  },
}
