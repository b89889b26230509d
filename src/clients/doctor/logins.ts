import { readFileSync, statSync } from 'node:fs'
import * as v from 'valibot'
import type { Adapter } from '../../adapter/adapter.ts'
import { ADAPTERS } from '../../adapter/registry.ts'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import { findProgram } from '../../runtime/process/capabilities.ts'
import type { Check, Finding, Installation } from './check.ts'
import { readDatabase } from './read-database.ts'

/**
 * Checks whether the agent programs of this machine have a login. It reads only
 * files: whether the provider accepts the login is not known without the network.
 */
export const loginsCheck: Check = {
  id: 'logins',
  title: 'Logins of agents',
  run(installation) {
    const found = ADAPTERS.flatMap((adapter) => checkLogin(installation, adapter) ?? [])
    return found.length > 0 ? found : [{ status: 'ok', message: 'No agent program is installed.' }]
  },
}

function checkLogin({ dataDir, environment }: Installation, adapter: Adapter): Finding | undefined {
  const files = adapter.userFiles?.(environment).login
  if (!files) return undefined
  const { command } = v.parse(adapter.config, {}) as { command: string }
  if (!findProgram(command, environment.PATH)) return undefined
  const file = files.find((one) => (statSync(one, { throwIfNoEntry: false })?.size ?? 0) > 0)
  const details = { adapterType: adapter.type, command, file: file ?? null }
  const again = `Run ${command} in a terminal and log in, or set a key of the provider in the env of its agents.`
  if (file !== undefined) {
    return hasExpired(file)
      ? { status: 'warning', message: `The login of ${command} has expired: ${file}`, hint: again, details }
      : { status: 'ok', message: `${command} has a login: ${file}`, details }
  }
  if (process.platform === 'darwin')
    return { status: 'ok', message: `${command} may have a login in the Keychain, which is not read.`, details }
  const agents = readDatabase(dataDir, (db) => listConfigurations(db, adapter.type)) ?? []
  if (agents.length > 0 && agents.every(hasOwnKey))
    return { status: 'ok', message: `${command} has no login, and its agents have keys in their env.`, details }
  return { status: 'warning', message: `${command} has no login: there is no ${files[0]}.`, hint: again, details }
}

/** Whether the access token of Claude Code has expired and cannot be renewed. Other programs do not store that. */
function hasExpired(file: string): boolean {
  try {
    const { claudeAiOauth: login } = JSON.parse(readFileSync(file, 'utf8'))
    return login !== undefined && !login.refreshToken && login.expiresAt < Date.now()
  } catch {
    return false
  }
}

/** Lists the configurations of the agents that use an adapter. */
const listConfigurations = (db: Db, type: string) =>
  db.all(
    sql
      .selectFrom('agent')
      .select('adapter_config')
      .where('adapter_type', '=', type)
      .where('status', '<>', 'terminated'),
  )

const hasOwnKey = ({ adapter_config }: { adapter_config: string }) =>
  Object.keys(JSON.parse(adapter_config).env ?? {}).some((name) => /_(API_KEY|AUTH_TOKEN|OAUTH_TOKEN)$/.test(name))
