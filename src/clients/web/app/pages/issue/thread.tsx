import { Avatar } from '../../kit/avatar.tsx'
import { money, words } from '../../kit/format.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { RunGlyph } from '../../kit/status.tsx'
import { Ago, Took } from '../../kit/time.tsx'
import { request } from '../../state/api.ts'
import { actorName, agents, isLive, may, nameOf, pathTo, runs } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Activity, Comment, Issue, Run } from '../../state/types.ts'
import { Composer } from './composer.tsx'
import { sentenceOf } from './sentences.tsx'

type Item =
  | { kind: 'comment'; at: string; id: string; comment: Comment }
  | { kind: 'run'; at: string; id: string; run: Run }
  | { kind: 'activity'; at: string; id: string; activity: Activity }

/** The maximum number of comments, runs or activities in one request. */
const LIMIT = 200

/** The comments, runs and activity of an issue, oldest first, and the comment field. */
export function Thread({ issue, activeRunId }: { issue: Issue; activeRunId: string | undefined }) {
  const params = { issueId: issue.id }
  const query = useQuery(
    `thread/${issue.id}`,
    async () => {
      const [comments, runsOfIssue, activity] = await Promise.all([
        request('GET /api/issues/:issueId/comments', { params }),
        request('GET /api/issues/:issueId/runs', { params, query: { limit: LIMIT } }),
        request('GET /api/issues/:issueId/activity', { params, query: { limit: LIMIT } }),
      ])
      runs.put(...runsOfIssue)
      return { comments, runIds: runsOfIssue.map(({ id }) => id), activity }
    },
    ({ type, data }) =>
      (data.entityType === 'issue' && data.entityId === issue.id) ||
      (type.startsWith('run.') && (data.issueId === issue.id || data.entityType === 'run')),
  )
  return (
    <section class="thread" aria-label="Thread">
      <Loaded query={query} skeleton={<Skeleton rows={4} height={64} />}>
        {({ comments, runIds, activity }) => {
          const items: Item[] = [
            ...comments.map((comment): Item => ({ kind: 'comment', at: comment.createdAt, id: comment.id, comment })),
            ...runIds.flatMap((id): Item[] => {
              const run = runs.get(id)
              return run && run.id !== activeRunId
                ? [{ kind: 'run', at: run.startedAt ?? run.createdAt, id: run.id, run }]
                : []
            }),
            ...activity
              .filter(({ action }) => action !== 'issue.commented')
              .map((one): Item => ({ kind: 'activity', at: one.createdAt, id: one.id, activity: one })),
          ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
          return items.map((item) => <ThreadItem key={item.id} item={item} />)
        }}
      </Loaded>
      {activeRunId !== undefined && <LiveRun runId={activeRunId} />}
      {may('member') ? (
        <Composer issue={issue} onSent={() => void query.reload()} />
      ) : (
        <p class="note">A member can comment here.</p>
      )}
    </section>
  )
}

function ThreadItem({ item }: { item: Item }) {
  if (item.kind === 'comment') return <CommentItem comment={item.comment} />
  if (item.kind === 'run') return <RunLine run={item.run} />
  const { activity } = item
  const sentence = sentenceOf(activity)
  if (!sentence) return null
  return (
    <div class="event">
      <span class="event-mark" aria-hidden="true" />
      <p>
        <b>{actorName(activity)}</b> {sentence}{' '}
        <span class="when">
          <Ago at={activity.createdAt} />
        </span>
      </p>
    </div>
  )
}

function CommentItem({ comment }: { comment: Comment }) {
  const name = nameOf({ agentId: comment.authorAgentId, userId: comment.authorUserId })
  const agent = agents.get(comment.authorAgentId)
  return (
    <article class="comment" id={`comment-${comment.id}`}>
      <Avatar name={name} {...(agent ? { status: agent.status } : { isPerson: true })} size={24} />
      <div class="comment-box">
        <header>
          <b>{name}</b>
          <span class="when">
            <Ago at={comment.createdAt} />
          </span>
        </header>
        <Markdown text={comment.body} />
      </div>
    </article>
  )
}

/** A run as one line: agent, cause, duration, cost and outcome. */
export function RunLine({ run }: { run: Run }) {
  return (
    <div class="event run-line">
      <RunGlyph status={run.status} />
      <p>
        <a href={pathTo(`runs/${run.id}`)}>
          <b>{nameOf({ agentId: run.agentId })}</b> {isLive(run) ? 'is at work' : VERB[run.status]}
        </a>{' '}
        <span class="note">
          {words(run.wakeReason).toLowerCase()}
          {run.startedAt && (
            <>
              {' · '}
              <Took from={run.startedAt} to={run.finishedAt} />
            </>
          )}
          {run.costCents > 0 && ` · ${money(run.costCents)}`}
          {' · '}
        </span>
        <span class="when">
          <Ago at={run.startedAt ?? run.createdAt} />
        </span>
        {run.error && <span class="error">{run.error}</span>}
      </p>
    </div>
  )
}

const VERB: Record<Run['status'], string> = {
  starting: 'is starting',
  running: 'is at work',
  succeeded: 'ran',
  failed: 'failed',
  timed_out: 'ran out of time',
  cancelled: 'was stopped',
  lost: 'was lost',
}

/** The live run of the issue, pinned to the end of the thread. */
function LiveRun({ runId }: { runId: string }) {
  const run = runs.get(runId)
  if (!run || !isLive(run)) return null
  const agent = agents.get(run.agentId)
  return (
    <a class="live-run" href={pathTo(`runs/${run.id}`)}>
      {agent && <Avatar name={agent.name} status="running" size={24} />}
      <span>
        <b>{agent?.name ?? 'An agent'}</b> is at work
      </span>
      {run.startedAt && <Took from={run.startedAt} />}
      <span class="open">Open the log</span>
    </a>
  )
}
