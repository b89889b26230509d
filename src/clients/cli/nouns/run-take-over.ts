import type { ResponseOf } from '../../client/types.ts'
import type { Client } from '../../connection/client.ts'
import { quoted } from '../command/output.ts'

type Run = ResponseOf<'GET /api/runs/:runId'>

/** The command with which the program of each adapter resumes a session in a terminal. */
const RESUME: Record<string, { program: string; args: readonly string[] }> = {
  runtimeA_local: { program: 'claude', args: ['--resume'] },
  runtimeB_local: { program: 'codex', args: ['resume'] },
}

/**
 * Returns the command with which a person continues the session of a run. Returns
 * null if its program has no sessions, or the session is no longer stored.
 */
export async function takeOverCommand(client: Client, run: Run): Promise<string | null> {
  const session = run.sessionIdAfter ?? run.sessionIdBefore
  const resume = RESUME[run.adapterType]
  if (session === null || !resume) return null
  const params = { agentId: run.agentId }
  const [agent, { sessions }] = await Promise.all([
    client.request('GET /api/agents/:agentId', { params }),
    client.request('GET /api/agents/:agentId/runtime-state', { params }),
  ])
  const cwd = sessions.find(({ sessionId }) => sessionId === session)?.cwd
  if (cwd === undefined) return null
  const { command } = agent.adapterConfig
  const program = typeof command === 'string' ? command : resume.program
  return `cd ${quoted(cwd)} && ${[program, ...resume.args, session].map(quoted).join(' ')}`
}
