import { listSharedFolders, SHARED_FOLDER_HINT } from '../../runtime/rehearsal/shared-folder.ts'
import type { Check, Finding } from './check.ts'
import { readDatabase } from './read-database.ts'

/** Warns about folders in which several runs can work at the same time. */
export const foldersCheck: Check = {
  id: 'folders',
  title: 'Working folders',
  run({ dataDir }) {
    const shared = (readDatabase(dataDir, listSharedFolders) ?? []).map(
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
