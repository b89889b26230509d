import type { Client } from '../../connection/client.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { choice, expiry, text } from '../command/flag.ts'
import { ago, credentialStatus, localTime, paint, shortId, table } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { verb } from '../command/verb.ts'

export const keysCommand = (theAgent: (scope: Scope, ref: string) => Promise<{ agentId: string }>) =>
  verb({
    name: 'keys',
    summary: "List an agent's keys, create one, or revoke one.",
    args: ['<agent>'],
    flags: {
      create: text('--create <name>', 'create a key and print it once'),
      scope: choice('--scope <scope>', ['read', 'work'], 'what the new key may do (default: work)'),
      expiresAt: expiry('--expires <time>', 'when the new key expires'),
      revoke: text('--revoke <key>', 'by its name or id'),
    },
    examples: [
      'agent keys Kit',
      'agent keys Kit --create server --scope read --expires 90d',
      'agent keys Kit --revoke laptop',
    ],
    async run(scope, [ref], { create, revoke, ...fields }) {
      const { client } = scope
      if (create === undefined && Object.keys(fields).length > 0) {
        throw new CliError(EXIT.usage, '--scope and --expires are for a new key: add --create.')
      }
      const params = await theAgent(scope, ref)
      if (create !== undefined) {
        const key = await client.request('POST /api/agents/:agentId/keys', {
          params,
          body: { name: create, ...fields },
        })
        return { value: key, text: () => `${paint('strong', key.token)}\nIt is displayed only now.` }
      }
      if (revoke !== undefined) {
        const keyId = await findKey(client, params, revoke)
        const key = await client.request('DELETE /api/agents/:agentId/keys/:keyId', { params: { ...params, keyId } })
        return { value: key, text: () => `The key ${key.name} is revoked.` }
      }
      const keys = await client.request('GET /api/agents/:agentId/keys', { params })
      const rows = keys.map((key) => [
        key.name,
        key.prefix,
        key.scope,
        credentialStatus(key),
        key.expiresAt === null ? 'never' : localTime(key.expiresAt),
        ago(key.lastUsedAt),
        ago(key.createdAt),
        shortId(key.id),
      ])
      return {
        value: keys,
        text: () =>
          keys.length === 0
            ? 'It has no keys.'
            : table([['Name', 'Begins', 'Scope', 'Status', 'Expires', 'Last used', 'Age', 'Id'], ...rows]),
      }
    },
  })

async function findKey(client: Client, params: { agentId: string }, ref: string): Promise<string> {
  const keys = await client.request('GET /api/agents/:agentId/keys', { params })
  return keys.find(({ id, name, revokedAt }) => id.endsWith(ref) || (name === ref && !revokedAt))?.id ?? ref
}
