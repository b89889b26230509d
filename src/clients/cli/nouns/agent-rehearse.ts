import type { BodyOf, ResponseOf } from '../../client/types.ts'
import { duration, fields, paint, plain, quoted, withLocalTimes, words } from '../command/output.ts'
import type { Output } from '../command/result.ts'
import type { Scope } from '../command/scope.ts'

type Rehearsal = ResponseOf<'POST /api/agents/:agentId/rehearse'>
type Body = BodyOf<'POST /api/agents/:agentId/rehearse'>

export async function rehearse(scope: Scope, params: { agentId: string }, body: Body): Promise<Output> {
  const rehearsal = await scope.client.request('POST /api/agents/:agentId/rehearse', { params, body })
  return { value: rehearsal, text: async () => describe(rehearsal, await urlOf(scope, rehearsal)) }
}

/** Returns the URL of an `http` agent. A program of the service sends the request, so the command line does not name it. */
async function urlOf({ client }: Scope, { adapterType, agentId }: Rehearsal): Promise<string | undefined> {
  if (adapterType !== 'http') return undefined
  const { adapterConfig } = await client.request('GET /api/agents/:agentId', { params: { agentId } })
  return String(adapterConfig.url)
}

function describe(rehearsal: Rehearsal, url: string | undefined): string {
  const { agentName, wakeReason, gates, notes, wouldRun, argv, session, limits, environment, prompt } = rehearsal
  const verdict = wouldRun
    ? paint('good', `${agentName} would run (${words(wakeReason)}).`)
    : paint('waiting', `${agentName} would not run now:`)
  const parts = [
    [
      verdict,
      ...gates.map(
        (gate) =>
          `  ${gate.effect === 'fails' ? 'it would fail' : gate.effect}: ${withLocalTimes(plain(gate.message))}`,
      ),
      ...notes.map((note) => `  note: ${plain(note)}`),
    ],
  ]
  if (argv && session && limits) {
    parts.push([
      fields([
        ...(url === undefined
          ? ([
              ['Command', argv.map(quoted).join(' ')],
              ['Directory', rehearsal.cwd],
            ] as const)
          : ([['Request', `POST ${url}`]] as const)),
        ['Session', session.mode === 'resumed' ? `resumes ${session.id}` : 'a fresh one'],
        ['Limits', limitsOf(limits)],
        ['Variables', environment?.join(' ')],
      ]),
    ])
    parts.push([paint('strong', 'Prompt'), plain(prompt ?? '')])
  }
  return parts.map((lines) => lines.join('\n')).join('\n\n')
}

const limitsOf = ({ timeoutSec, silenceSec, graceSec }: NonNullable<Rehearsal['limits']>) =>
  [
    timeoutSec === null ? 'no time limit' : `${duration(timeoutSec * 1_000)} at most`,
    ...(silenceSec === null ? [] : [`${duration(silenceSec * 1_000)} of silence`]),
    `${duration(graceSec * 1_000)} to stop`,
  ].join(', ')
