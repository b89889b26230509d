import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Agent, Issue } from './api.ts'
import { checkOut, commentsOf, move, myIssues, type Shift, sayOnce, signed } from './shift.ts'

/** What an agent without reports does: its own issues, one after another, each handed in when it is done. */
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
 * The question that an issue's description asks in a line `Question: ...`, for
 * a researcher: undefined when there is none or it is answered, `waiting` when
 * it was asked and is not.
 */
async function openQuestionOf(
  shift: Shift,
  issue: Issue,
): Promise<{ to: Agent; text: string } | 'waiting' | undefined> {
  const text = /^Question: (.+)$/m.exec(issue.description ?? '')?.[1]
  const to = shift.team.find((agent) => agent.role === 'researcher' && agent.id !== shift.me.id)
  if (!text || !to) return undefined
  const comments = await commentsOf(shift, issue)
  const asked = comments.findLastIndex(
    ({ authorAgentId, body }) => authorAgentId === shift.me.id && body === signed(`@${to.name} ${text}`),
  )
  if (asked < 0) return { to, text }
  return comments.slice(asked + 1).some((comment) => comment.authorAgentId === to.id) ? undefined : 'waiting'
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

/** Leaves a small file in the workspace. @returns its name */
function writeArtifact({ me, env }: Shift, issue: Issue): string {
  const name = `${issue.identifier.toLowerCase()}.md`
  const file = path.join(env.SERVICE_WORKSPACE_CWD || process.cwd(), name)
  const body = `# ${issue.title}\n\nWritten by ${me.name} (${me.role}), a demo agent, for ${issue.identifier}.\n`
  // Whole or not at all, however the run ends.
  writeFileSync(`${file}.part`, body)
  renameSync(`${file}.part`, file)
  return name
}
