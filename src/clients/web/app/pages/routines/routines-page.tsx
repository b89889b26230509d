import { useSignal } from '@preact/signals'
import ellipsis from 'lucide-static/icons/ellipsis.svg'
import plus from 'lucide-static/icons/plus.svg'
import { AgentName } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { agents, companyIdNow, may } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import { type Routine, RoutineForm } from './routine-form.tsx'
import { describe } from './schedule.ts'

/** The routines of the company, with the next time of each. */
export function RoutinesPage() {
  const form = useSignal<{ routine?: Routine } | undefined>(undefined)
  const open = () => {
    form.value = {}
  }
  const query = useQuery(
    'routines',
    () => request('GET /api/companies/:companyId/routines', { params: { companyId: companyIdNow() } }),
    ({ data }) => data.entityType === 'routine',
  )
  useCommands(
    may('admin') ? [{ id: 'routine.new', title: 'New routine', keys: 'n', group: 'Routines', run: open }] : [],
  )
  const isEmpty = query.data.value?.length === 0
  return (
    <Page
      title="Routines"
      actions={
        may('admin') &&
        !isEmpty && (
          <Button kind="primary" icon={plus} hint="n" onClick={open}>
            New routine
          </Button>
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={4} height={44} />}>
        {(routines) =>
          routines.length === 0 ? (
            <Empty
              title="No routines yet."
              action={
                may('admin') && (
                  <Button kind="primary" hint="n" onClick={open}>
                    Create the first routine
                  </Button>
                )
              }
            >
              A routine creates the same issue again and again: every morning, or every six hours.
            </Empty>
          ) : (
            <ul class="lines places-list">
              {routines.map((routine) => (
                <Row
                  key={routine.id}
                  routine={routine}
                  onEdit={() => {
                    form.value = { routine }
                  }}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {form.value && (
        <RoutineForm
          {...form.value}
          onClose={() => {
            form.value = undefined
          }}
        />
      )}
    </Page>
  )
}

function Row({ routine, onEdit }: { routine: Routine; onEdit: () => void }) {
  const agent = agents.get(routine.assigneeAgentId)
  return (
    <li>
      <div class="place-main">
        <b class="clip">{routine.title}</b>
        <span class="note">
          <span title={routine.cron ?? undefined}>{describe(routine)}</span>
          {routine.timeZone && `, ${routine.timeZone}`}
        </span>
      </div>
      {agent && <AgentName agent={agent} />}
      <span class="line-end">
        <span class="note">
          {routine.status === 'paused' ? (
            'Paused'
          ) : routine.nextDueAt ? (
            <>
              next <Ago at={routine.nextDueAt} />
            </>
          ) : (
            'No next time'
          )}
        </span>
        {may('admin') && (
          <Menu
            label={`Actions of ${routine.title}`}
            items={[
              { label: 'Change…', run: onEdit },
              { label: 'Create the issue now', run: () => void run(routine) },
              routine.status === 'paused'
                ? { label: 'Resume', run: () => void set(routine, 'resume') }
                : { label: 'Pause', run: () => void set(routine, 'pause') },
              { label: 'Delete', run: () => void remove(routine) },
            ]}
          >
            <Icon svg={ellipsis} />
          </Menu>
        )}
      </span>
    </li>
  )
}

async function run(routine: Routine): Promise<void> {
  const fired = await act(() => request('POST /api/routines/:routineId/run', { params: { routineId: routine.id } }))
  if (fired) toast(fired.outcome === 'created' ? 'The issue was created.' : (fired.reason ?? 'The issue was queued.'))
}

async function set(routine: Routine, action: 'pause' | 'resume'): Promise<void> {
  const params = { routineId: routine.id }
  await act(() =>
    action === 'pause'
      ? request('POST /api/routines/:routineId/pause', { params })
      : request('POST /api/routines/:routineId/resume', { params }),
  )
  invalidate('routines')
}

async function remove(routine: Routine): Promise<void> {
  const isSure = await confirm({
    title: `Delete “${routine.title}”?`,
    text: 'This deletes the routine and its history. The issues that it created are kept.',
    action: 'Delete the routine',
  })
  if (!isSure) return
  await act(() => request('DELETE /api/routines/:routineId', { params: { routineId: routine.id } }))
  invalidate('routines')
}
