import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { AgentName } from '../../kit/avatar.tsx'
import { Copyable } from '../../kit/copyable.tsx'
import { Facts } from '../../kit/facts.tsx'
import { money, number, short, words } from '../../kit/format.ts'
import { StatusGlyph } from '../../kit/status.tsx'
import { Ago, Took } from '../../kit/time.tsx'
import { programOf } from '../../state/adapters.ts'
import { agents, isLive, issues, nameOf, pathTo } from '../../state/company.ts'
import type { Run } from '../../state/types.ts'
import type { RunLog } from './log.ts'

/** The details of a run. */
export function RunFacts({ run, log }: { run: Run; log: RunLog }) {
  log.version.value
  const isWide = useIsWide()
  const agent = agents.get(run.agentId)
  const issue = issues.get(run.issueId)
  const cwd = log.reader.cwd()
  const takeOver = takeOverOf(run, cwd)
  return (
    <details class="run-facts" aria-label="Facts" open={isWide}>
      <summary>
        {run.startedAt && <Took from={run.startedAt} to={run.finishedAt} />}
        {run.costCents > 0 && ` · ${money(run.costCents)}`} · {words(run.wakeReason)}
      </summary>
      <Facts
        rows={[
          [
            'Agent',
            agent && (
              <a class="link" href={pathTo(`agents/${agent.urlKey}`)}>
                <AgentName agent={agent} />
              </a>
            ),
          ],
          [
            'Issue',
            issue && (
              <a class="link issue-link" href={pathTo(`issues/${issue.identifier}`)} title={issue.title}>
                <StatusGlyph status={issue.status} />
                <span class="clip">
                  <span class="id">{issue.identifier}</span> {issue.title}
                </span>
              </a>
            ),
          ],
          ['Cause', <Reasons key="reasons" run={run} />],
          [
            'Retry of',
            run.retryOfRunId && (
              <a class="link" href={pathTo(`runs/${run.retryOfRunId}`)}>
                the run before
              </a>
            ),
          ],
          ['Placement', run.placement && [run.placement, run.node].filter(Boolean).join(' · ')],
          ['Waits', isLive(run) && run.waitingBecause && <span class="warn">{run.waitingBecause}</span>],
          ['Started', run.startedAt && <Ago at={run.startedAt} />],
          ['Took', run.startedAt && <Took from={run.startedAt} to={run.finishedAt} />],
          [
            'Cost',
            run.costStatus === 'none' && run.costCents === 0 ? (
              <span class="none">{isLive(run) ? 'not known yet' : 'none'}</span>
            ) : (
              <span class="num">
                {run.costStatus === 'unpriced' && run.costCents === 0 ? 'not priced' : money(run.costCents)}
                {run.costStatus === 'estimated' && <span class="note"> estimated</span>}
              </span>
            ),
          ],
          ['Tokens', <Tokens key="tokens" run={run} />],
          ['Model', log.reader.model()],
          ['Program', programOf(agent) ?? words(run.adapterType)],
          ['Ended', run.stopReason && words(run.stopReason)],
          ['Exit', run.exitCode !== null ? <span class="num">{run.exitCode}</span> : run.signal],
          ['Process', isLive(run) && run.processPid !== null && <span class="id">{run.processPid}</span>],
        ]}
      />
      {(cwd || takeOver) && <h2>Take over</h2>}
      {takeOver && (
        <>
          <p class="note">
            {isLive(run) ? 'Stop the run first, then continue' : 'Continue'} its session in a terminal:
          </p>
          <Copyable text={takeOver} />
        </>
      )}
      {!takeOver && cwd && <Copyable text={`cd ${cwd}`} />}
    </details>
  )
}

function Tokens({ run }: { run: Run }) {
  const { inputTokens, cachedInputTokens, outputTokens } = run.usage
  const title = `${number(inputTokens)} read, ${number(cachedInputTokens)} from a cache, ${number(outputTokens)} written`
  return (
    <span class="num" title={title}>
      {short(inputTokens)} in
      {cachedInputTokens > 0 && ` · ${short(cachedInputTokens)} cached`} · {short(outputTokens)} out
    </span>
  )
}

function Reasons({ run }: { run: Run }) {
  if (run.reasons.length === 0) return <>{words(run.wakeReason)}</>
  return (
    <ul class="reasons">
      {run.reasons.slice(0, 6).map((reason, index) => (
        <li key={index}>
          {words(reason.source)}
          {reason.actorType !== 'system' && (
            <span class="note">
              {' '}
              by {nameOf(reason.actorType === 'agent' ? { agentId: reason.actorId } : { userId: reason.actorId })}
            </span>
          )}
          {run.reasons.length > 1 && (
            <span class="when">
              {' '}
              <Ago at={reason.at} />
            </span>
          )}
        </li>
      ))}
      {run.reasons.length > 6 && <li class="note">and {run.reasons.length - 6} more</li>}
    </ul>
  )
}

const WIDE = matchMedia('(min-width: 1101px)')

/** Whether the details are beside the events. Otherwise they are collapsed above them. */
function useIsWide(): boolean {
  const isWide = useSignal(WIDE.matches)
  useEffect(() => {
    const update = () => {
      isWide.value = WIDE.matches
    }
    WIDE.addEventListener('change', update)
    return () => WIDE.removeEventListener('change', update)
  }, [])
  return isWide.value
}

/** Returns the command with which a person continues the session of a run. */
function takeOverOf(run: Run, cwd: string | undefined): string | undefined {
  const session = run.sessionIdAfter ?? run.sessionIdBefore
  if (!session) return undefined
  const program =
    run.adapterType === 'runtimeA_local'
      ? `claude --resume ${session}`
      : run.adapterType === 'runtimeB_local'
        ? `codex resume ${session}`
        : undefined
  return program && (cwd ? `cd ${cwd} && ${program}` : program)
}
