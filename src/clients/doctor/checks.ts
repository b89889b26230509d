import { agentsCheck } from './agents.ts'
import { backupsCheck } from './backups.ts'
import type { Check } from './check.ts'
import { clockCheck } from './clock.ts'
import { databaseCheck } from './database.ts'
import { diskUseCheck } from './disk-use.ts'
import { foldersCheck } from './folders.ts'
import { isolationCheck } from './isolation.ts'
import { loginsCheck } from './logins.ts'
import { dataDirCheck, diskCheck, nodeCheck, portCheck } from './machine.ts'
import { failingCheck, fileLimitCheck, freezeCheck, walCheck } from './operation.ts'

/** The default checks. All are fast and change nothing. */
export const CHECKS: readonly Check[] = [
  nodeCheck,
  dataDirCheck,
  databaseCheck,
  backupsCheck,
  diskCheck,
  diskUseCheck,
  clockCheck,
  portCheck,
  agentsCheck,
  loginsCheck,
  foldersCheck,
  isolationCheck,
  walCheck,
  fileLimitCheck,
  freezeCheck,
  failingCheck,
]
