import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { Vault } from '../../platform/vault.ts'
import { sealedIn, unreadable } from '../redaction/sealed.ts'
import { placeOfSecret } from '../webhook/webhook.ts'
import { open, placeOf } from './seal.ts'

/**
 * Lists the secrets, and the agents, projects and webhooks with values, that the key
 * cannot decrypt, as after a restore without `keys/`.
 */
export function checkSecrets(db: Db, vault: Vault): string[] {
  const secrets = db
    .all(sql.selectFrom('secret').select(['company_id', 'name', 'sealed']))
    .filter(({ company_id, name, sealed }) => vault.open({ companyId: company_id, name }, sealed) === undefined)
    .map(({ name }) => unreadable([name], 'the secrets'))
  const agents = db
    .all(
      sql
        .selectFrom('agent')
        .select(['id', 'company_id', 'name', 'adapter_config', 'metadata'])
        .where('status', '<>', 'terminated')
        .where((eb) => eb.or([eb('adapter_config', 'like', MENTIONS_SEALED), eb('metadata', 'like', MENTIONS_SEALED)])),
    )
    .map((row) => {
      const stored = { adapterConfig: JSON.parse(row.adapter_config), metadata: JSON.parse(row.metadata ?? '{}') }
      return { owner: `the agent ${row.name}`, opened: open(vault, placeOf('agent', row), stored) }
    })
  const projects = db
    .all(sql.selectFrom('project').select(['id', 'company_id', 'name', 'env']).where('env', 'like', MENTIONS_SEALED))
    .map((row) => ({
      owner: `the project ${row.name}`,
      opened: open(vault, placeOf('project', row), { env: JSON.parse(row.env) }),
    }))
  const webhooks = db
    .all(sql.selectFrom('webhook').select(['id', 'company_id', 'url', 'secret']))
    .filter((row) => vault.open(placeOfSecret(row), row.secret) === undefined)
    .map(({ url }) => unreadable(['secret'], `the webhook ${new URL(url).host}`))
  const owned = [...agents, ...projects].flatMap(({ owner, opened }) => {
    const paths = Object.entries(opened).flatMap(([field, value]) => sealedIn(value, field))
    return paths.length > 0 ? [unreadable(paths, owner)] : []
  })
  return [...secrets, ...owned, ...webhooks]
}

/** Excludes rows without encrypted values before their JSON is parsed. */
const MENTIONS_SEALED = '%"$sealed"%'
