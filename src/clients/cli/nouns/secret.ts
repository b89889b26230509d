import type { ResponseOf } from '../../client/types.ts'
import { askSecret } from '../command/ask.ts'
import { LIMIT, text, toggle } from '../command/flag.ts'
import { readText } from '../command/input.ts'
import { ago, fields, localTime, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, list, noun, remove, view } from '../command/verb.ts'

type Secret = ResponseOf<'GET /api/secrets/:secretId'>

const HOW = 'Pass the value on standard input: `service secret create NAME - < file`.'

/** Reads the value of a secret. It is never an argument, because other users of the machine can read arguments. */
async function readValue(scope: Scope, source: string | undefined): Promise<string> {
  if (source === undefined) return askSecret(scope.options, 'The value', HOW)
  return readText(source === '-' || source.startsWith('@') ? source : `@${source}`)
}

const SOURCE = '[source]'

const NOTE = `The source of the value is a file, or - for standard input. Without a source you are asked.
A value is never displayed again. An env refers to it: {"$secret": "DEPLOY_KEY"}.`

const describe = (secret: Secret) =>
  fields([
    ['Secret', secret.name],
    ['Description', secret.description],
    ['Version', secret.version],
    ['Changed', localTime(secret.updatedAt)],
    ['Used by', secret.usedBy.map(({ type, name }) => `${type} ${name}`).join(', ')],
    ['Id', secret.id],
  ])

export const secretCommand = () =>
  noun('secret', 'Secrets: values that the env of agents and projects refers to.', [
    list({
      summary: 'List the secrets by name. Values are never displayed.',
      flags: LIMIT,
      examples: ['secret list'],
      empty: 'There are no secrets. Store one with `service secret create`.',
      page: 'secrets',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/secrets', { params: await scope.inCompany(), query }),
      columns: {
        Secret: ({ name }) => name,
        Description: ({ description }) => description,
        Version: ({ version }) => version,
        Changed: ({ updatedAt }) => ago(updatedAt),
        Id: ({ id }) => shortId(id),
      },
    }),
    view({
      summary: 'Show what refers to a secret.',
      args: ['<secret>'],
      examples: ['secret view DEPLOY_KEY'],
      load: async (scope, [ref]) =>
        scope.client.request('GET /api/secrets/:secretId', { params: { secretId: await scope.find('secret', ref) } }),
      text: describe,
    }),
    create({
      summary: 'Store a secret.',
      args: ['<name>', SOURCE],
      flags: { description: text('-d, --description <text>') },
      examples: ['secret create API_TOKEN token.txt --description "Of the tide service"'],
      note: NOTE,
      send: async (scope, [name, source], body) =>
        scope.client.request('POST /api/companies/:companyId/secrets', {
          params: await scope.inCompany(),
          body: { ...body, name, value: await readValue(scope, source) },
        }),
      text: ({ name }) => `The secret ${name} is stored.`,
    }),
    act({
      name: 'rotate',
      summary: 'Replace the value of a secret. Runs that start later receive the new value.',
      args: ['<secret>', SOURCE],
      examples: ['secret rotate DEPLOY_KEY token.txt'],
      note: NOTE,
      send: async (scope, [ref, source]) =>
        scope.client.request('POST /api/secrets/:secretId/rotate', {
          params: { secretId: await scope.find('secret', ref) },
          body: { value: await readValue(scope, source) },
        }),
      text: ({ name, version }) => `The secret ${name} has version ${version}.`,
    }),
    remove({
      summary: 'Delete a secret that nothing refers to.',
      args: ['<secret>'],
      flags: { force: toggle('--force', 'also if agents or projects refer to it') },
      examples: ['secret delete DEPLOY_KEY --yes'],
      ask: ([ref]) => `Delete the secret ${ref}?`,
      send: async (scope, [ref], { force }) =>
        scope.client.request('DELETE /api/secrets/:secretId', {
          params: { secretId: await scope.find('secret', ref) },
          query: force ? { force: 'true' } : {},
        }),
      text: ({ name }) => `The secret ${name} is deleted.`,
    }),
  ])
