import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { agent, board, operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import type { Adapter } from '../../adapter/adapter.ts'
import { ADAPTERS } from '../../adapter/registry.ts'
import * as field from '../../http/fields.ts'
import { createProbe } from '../process/capabilities.ts'
import { writeAgentProgram } from './demo-agent.ts'

/** The state of an agent program that the server can determine without a run. */
const Program = v.strictObject({
  adapterType: v.string(),
  command: v.string(),
  isFound: v.boolean(),
  version: v.nullable(v.string()),
  isSignedIn: v.pipe(v.nullable(v.boolean()), v.description('Null if the server cannot tell.')),
  hint: v.pipe(v.nullable(v.string()), v.description('What to do if the program is missing or not signed in.')),
})

const AdapterInfo = v.strictObject({
  type: v.string(),
  summary: v.string(),
  configSchema: v.pipe(field.jsonObject, v.description('The JSON Schema of `adapterConfig`.')),
})

/** The endpoints of adapters and agent programs. */
export const programRoutes = [
  route({
    id: 'adapters.list',
    method: 'GET',
    path: '/api/adapters',
    summary: 'List the adapters with the JSON Schema of their configuration',
    who: [board, agent],
    responses: { 200: v.array(AdapterInfo) },
    run: () =>
      ADAPTERS.map(({ type, summary, config }) => {
        const { $schema: _, ...schema } = toJsonSchema(config, { errorMode: 'ignore', typeMode: 'input' })
        return { type, summary, configSchema: schema }
      }),
  }),
  route({
    id: 'instance.programs',
    method: 'GET',
    path: '/api/instance/programs',
    summary: 'List the agent programs and whether this machine has them, with the state of their sign-in',
    who: [operator],
    responses: { 200: v.array(Program) },
    run: (ctx) => {
      const probe = createProbe(ctx.config.environment)
      return Promise.all(
        ADAPTERS.filter((adapter) => adapter.installHint !== null).map((one) =>
          findProgram(one, probe, ctx.config.environment),
        ),
      )
    },
  }),
  route({
    id: 'instance.prepareDemoAgent',
    method: 'POST',
    path: '/api/instance/demo-agent',
    summary: 'Prepare the built-in demo agent, and return the configuration of an agent that runs it',
    description:
      'The demo agent needs no model and no network. It follows the outline of an issue, and shows how the service works.',
    who: [operator],
    responses: { 200: v.strictObject({ adapterType: v.string(), adapterConfig: field.jsonObject }) },
    run: (ctx) => ({
      adapterType: 'runtimeA_local',
      adapterConfig: { command: writeAgentProgram(ctx.config.dataDir), extraArgs: ['--pace', '800'] },
    }),
  }),
]

/** Finds the program of an adapter, its version and its sign-in. */
async function findProgram(
  adapter: Adapter,
  probe: ReturnType<typeof createProbe>,
  environment: Record<string, string>,
): Promise<v.InferOutput<typeof Program>> {
  const { command } = v.parse(adapter.config, {}) as { command: string }
  const found = await probe(command, adapter.helpArgs ?? undefined)
  const isSignedIn = found ? isSignedInTo(command, environment) : null
  const signIn = isSignedIn === false ? `Sign in: run ${SIGN_IN[command] ?? command} once in a terminal.` : null
  return {
    adapterType: adapter.type,
    command,
    isFound: found !== undefined && found !== null,
    version: found?.version ?? null,
    isSignedIn,
    hint: found ? signIn : adapter.installHint,
  }
}

const SIGN_IN: Record<string, string> = { claude: 'claude and then /login', codex: 'codex login' }

/**
 * Whether the credentials that a program stores exist; null if unknown. On macOS
 * Claude Code stores them in the keychain, which the server does not read.
 */
function isSignedInTo(command: string, environment: Record<string, string>): boolean | null {
  const home = environment.HOME
  if (home === undefined) return null
  if (command === 'codex')
    return existsSync(path.join(environment.CODEX_HOME ?? path.join(home, '.codex'), 'auth.json'))
  if (command !== 'claude') return null
  if (existsSync(path.join(home, '.claude', '.credentials.json'))) return true
  try {
    return 'oauthAccount' in JSON.parse(readFileSync(path.join(home, '.claude.json'), 'utf8')) || null
  } catch {
    return process.platform === 'darwin' ? null : false
  }
}
