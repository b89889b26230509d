import { existsSync } from 'node:fs'
import path from 'node:path'
import { createDb } from '../../platform/database/db.ts'
import { openReadOnly } from '../../platform/database/reader-thread.ts'
import { listSharedFolders, SHARED_FOLDER_HINT } from '../../runtime/rehearsal/shared-folder.ts'
import type { Check, Finding } from './check.ts'

/** Warns about folders in which several runs can work at the same time. */
export const foldersCheck: Check = {
  id: 'folders',
  title: 'Working folders',
  run({ dataDir }) {
    const shared = listShared(path.join(dataDir, 'service.db')).map(
      ({ folder, agents }): Finding => ({
        status: 'warning',
        message: `Several runs can work in ${folder} at the same time: ${agents.map(({ name, runs }) => (runs > 1 ? `${name} (${runs} runs)` : name)).join(', ')}.`,
        hint: SHARED_FOLDER_HINT,
        details: { folder, agents },
      }),
    )
    return shared.length > 0 ? shared : [{ status: 'ok', message: 'No folder is shared by runs.' }]
  },
}

function listShared(file: string): ReturnType<typeof listSharedFolders> {
  if (!existsSync(file)) return []
  try {
    const sqlite = openReadOnly(file)
    try {
      return listSharedFolders(createDb(sqlite))
    } finally {
      sqlite.close()
    }
  } catch {
    return [] // the check of the database reports the problem
  }
}
