import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Agent, Issue } from './api.ts'
import { checkOut, commentsOf, move, myIssues, type Shift, sayOnce, signed } from './shift.ts'

/** Performs the work of an agent without reports: completes its issues one after another. */
export async function workAlone(shift: Shift): Promise<void> {
  for (const issue of await myIssues(shift)) {
    const question = await openQuestionOf(shift, issue)
    if (question === 'waiting' && issue.status === 'blocked') continue
    if (!(await checkOut(shift, issue))) continue
    if (question === 'waiting') await move(shift, issue, 'blocked', 'Waiting for an answer.')
    else if (question) await move(shift, issue, 'blocked', `@${question.to.name} ${question.text}`)
    else await doIssue(shift, issue)
  }
}

/**
 * Returns the question to a researcher in a line `Question: ...` of an issue's
 * description. Returns undefined if there is none or it is answered, and
 * `waiting` if it was asked and has no answer yet.
 */
async function openQuestionOf(
  shift: Shift,
  issue: Issue,
): Promise<{ to: Agent; text: string } | 'waiting' | undefined> {
  const text = /^Question: (.+)$/m.exec(issue.description ?? '')?.[1]
  const to = shift.team.find((agent) => agent.role === 'researcher' && agent.id !== shift.me.id)
  if (!text || !to) return undefined
  const comments = await commentsOf(shift, issue)
  const requested = comments.findLastIndex(
    ({ authorAgentId, body }) => authorAgentId === shift.me.id && body === signed(`@${to.name} ${text}`),
  )
  if (requested < 0) return { to, text }
  return comments.slice(requested + 1).some((comment) => comment.authorAgentId === to.id) ? undefined : 'waiting'
}

async function doIssue(shift: Shift, issue: Issue): Promise<void> {
  const { me, team, pace } = shift
  await sayOnce(shift, issue, 'Started.')
  await wait(pace)
  const file = writeArtifact(shift, issue)
  const boss = team.find((agent) => agent.id === me.reportsTo)
  if (boss && me.role === 'engineer') {
    await move(shift, issue, 'in_review', `@${boss.name} ready for review: ${file}`)
  } else {
    await move(shift, issue, 'done', `Done: ${file}`)
  }
}

/** Writes a small file into the workspace. Returns its name. */
function writeArtifact({ me, env }: Shift, issue: Issue): string {
  const name = `${issue.identifier.toLowerCase()}.md`
  const file = path.join(env.SERVICE_WORKSPACE_CWD || process.cwd(), name)
  const body = `# ${issue.title}\n\nWritten by ${me.name} (${me.role}), a demo agent, for ${issue.identifier}.\n`
  // Written atomically, because the run may be killed at any point.
  writeFileSync(`${file}.part`, body)
  renameSync(`${file}.part`, file)
  return name
}
