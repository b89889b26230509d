import braces from 'lucide-static/icons/braces.svg'
import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import diff from 'lucide-static/icons/file-diff.svg'
import logs from 'lucide-static/icons/logs.svg'
import octagon from 'lucide-static/icons/octagon-x.svg'
import { lazy, useLocation, useRoute } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { RunGlyph } from '../../kit/status.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { agents, ensureIssue, isLive, issues, may, nameOf, pathTo, runs } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Run } from '../../state/types.ts'
import { Changes, hasWorktree } from '../issue/changes.tsx'
import { useRunLog } from './log.ts'
import { RunFacts } from './run-facts.tsx'
import { Stream } from './stream.tsx'

/** The raw log, loaded on first use. */
const RawLog = lazy(() => import('./raw-log.tsx').then((m) => m.RawLog))

/** The page of a run: its events and its details. */
export function RunPage() {
  const { runId = '' } = useRoute().params
  const query = useQuery(`run/${runId}`, async () => {
    const run = await request('GET /api/runs/:runId', { params: { runId } })
    runs.put(run)
    ensureIssue(run.issueId)
    return run.id
  })
  const run = runs.get(runId)
  const { route, query: address } = useLocation()
  const view = address.view === 'raw' || address.view === 'changes' ? address.view : 'events'
  const isRaw = view === 'raw'
  const hasChanges = hasWorktree(issues.get(run?.issueId))
  const show = (view: string) => route(`${pathTo(`runs/${runId}`)}${view}`, true)
  useCommands([
    { id: 'run.back', title: 'Back to the runs', keys: 'Escape', group: 'Run', isKeyOnly: true, run: back },
    {
      id: 'run.raw',
      title: isRaw ? 'Show the events' : 'Show the raw log',
      keys: 'l',
      group: 'Run',
      run: () => show(isRaw ? '' : '?view=raw'),
    },
    ...(hasChanges
      ? [{ id: 'run.changes', title: 'Show the changes', group: 'Run', run: () => show('?view=changes') }]
      : []),
    ...(run && isLive(run) && may('member')
      ? [{ id: 'run.cancel', title: 'Stop the run', keys: 'shift+x', group: 'Run', run: () => void cancelRun(run) }]
      : []),
  ])
  function back() {
    if (history.length > 1) history.back()
    else route(pathTo('runs'))
  }
  return (
    <Page
      title={run ? `Run of ${nameOf({ agentId: run.agentId })}` : 'Run'}
      layout="list"
      trail={<Button kind="quiet" icon={arrowLeft} label="Back to the runs" href={pathTo('runs')} />}
      tools={run && <Status run={run} />}
      actions={
        run && (
          <>
            <span class="switch">
              <Button kind="quiet" icon={logs} isPressed={view === 'events'} onClick={() => show('')}>
                Events
              </Button>
              {hasChanges && (
                <Button kind="quiet" icon={diff} isPressed={view === 'changes'} onClick={() => show('?view=changes')}>
                  Changes
                </Button>
              )}
              <Button kind="quiet" icon={braces} isPressed={isRaw} onClick={() => show('?view=raw')}>
                Raw log
              </Button>
            </span>
            {isLive(run) && may('member') && (
              <Button icon={octagon} onClick={() => void cancelRun(run)}>
                Stop
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={14} height={28} />}>
        {(id) => (runs.get(id) ? <Content key={id} run={runs.get(id)!} view={view} /> : null)}
      </Loaded>
    </Page>
  )
}

const VIEWS = { events: 'Events', raw: 'Raw log', changes: 'Changes' }

function Content({ run, view }: { run: Run; view: keyof typeof VIEWS }) {
  const issue = issues.get(run.issueId)
  const log = useRunLog(run.id)
  log.version.value
  const live = isLive(run) || !log.isComplete.value
  return (
    <div class="run">
      <section class="run-main" aria-label={VIEWS[view]}>
        {log.isLost.value && live && (
          <p class="run-lost" role="status">
            The connection is lost. What follows is shown as soon as it is back.
          </p>
        )}
        {run.error && (
          <div class="run-error" role="alert">
            {run.error}
          </div>
        )}
        {view === 'changes' && issue ? (
          <div class="run-changes">
            <Changes issue={issue} isAlone />
          </div>
        ) : log.reader.events.length === 0 && log.lines.length === 0 ? (
          <Nothing run={run} isComplete={log.isComplete.value} />
        ) : view === 'raw' ? (
          <RawLog log={log} isLive={isLive(run)} />
        ) : (
          <Stream log={log} isLive={isLive(run)} />
        )}
      </section>
      <RunFacts run={run} log={log} />
    </div>
  )
}

function Nothing({ run, isComplete }: { run: Run; isComplete: boolean }) {
  if (isLive(run)) return <p class="run-wait note">No output yet.</p>
  if (!isComplete) return null
  const agent = agents.get(run.agentId)
  return (
    <Empty
      title="This run has no output."
      action={agent && <Button href={pathTo(`agents/${agent.urlKey}`)}>Open {agent.name}</Button>}
    />
  )
}

/** The status of a run: an icon and a word. */
export function Status({ run }: { run: Run }) {
  return (
    <span class={`run-status run-${run.status}`}>
      <RunGlyph status={run.status} />
      {STATUS[run.status]}
    </span>
  )
}

export const STATUS: Record<Run['status'], string> = {
  starting: 'Starting',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  timed_out: 'Timed out',
  cancelled: 'Stopped',
  lost: 'Lost',
}

async function cancelRun(run: Run): Promise<void> {
  const issue = issues.row(run.issueId ?? '').peek()
  const isSure = await confirm({
    title: `Stop the run of ${nameOf({ agentId: run.agentId })}?`,
    text: `This ends the run and its processes.${issue ? ` ${issue.identifier} keeps its assignee.` : ''} Files that the agent wrote are kept.`,
    action: 'Stop the run',
  })
  if (!isSure) return
  const changed = await act(() => request('POST /api/runs/:runId/cancel', { params: { runId: run.id } }))
  if (!changed) return
  runs.put(changed)
  toast('The run was stopped.')
}
