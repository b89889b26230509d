import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { AgentName } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { duration } from '../../kit/format.ts'
import { Menu } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { agents, companyIdNow, may } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'

type Routine = Received<'GET /api/companies/:companyId/routines'>[number]

/** The issues that come back on a schedule, with the next moment of each. */
export function RoutinesPage() {
  const isOpen = useSignal(false)
  const open = () => {
    isOpen.value = true
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
                <Row key={routine.id} routine={routine} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isOpen.value && (
        <NewRoutine
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </Page>
  )
}

function Row({ routine }: { routine: Routine }) {
  const agent = agents.get(routine.assigneeAgentId)
  return (
    <li>
      <div class="place-main">
        <b class="clip">{routine.title}</b>
        <span class="note">
          {routine.cron ? (
            <>
              <code>{routine.cron}</code> {routine.timeZone}
            </>
          ) : (
            `every ${duration((routine.intervalSec ?? 0) * 1_000)}`
          )}
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
            'Never due'
          )}
        </span>
        {may('admin') && (
          <Menu
            label={`Actions of ${routine.title}`}
            items={[
              { label: 'Create its issue now', run: () => void run(routine) },
              routine.status === 'paused'
                ? { label: 'Resume', run: () => void set(routine, 'resume') }
                : { label: 'Pause', run: () => void set(routine, 'pause') },
              { label: 'Delete', run: () => void remove(routine) },
            ]}
          >
            <span aria-hidden="true">⋯</span>
          </Menu>
        )}
      </span>
    </li>
  )
}

async function run(routine: Routine): Promise<void> {
  const fired = await act(() => request('POST /api/routines/:routineId/run', { params: { routineId: routine.id } }))
  if (fired) toast(fired.outcome === 'created' ? 'Its issue was created.' : (fired.reason ?? 'It was queued.'))
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
    text: 'This deletes the routine and its history. The issues that it created stay.',
    action: 'Delete the routine',
  })
  if (!isSure) return
  await act(() => request('DELETE /api/routines/:routineId', { params: { routineId: routine.id } }))
  invalidate('routines')
}

function NewRoutine({ onClose }: { onClose: () => void }) {
  const able = agents.all.value.filter(({ status }) => status !== 'terminated')
  const fields = useSignal({ title: '', description: '', assigneeAgentId: able[0]?.id ?? '', cron: '0 9 * * 1-5' })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const { title, description, assigneeAgentId, cron } = fields.value
  return (
    <FormDialog
      title="New routine"
      action="Create routine"
      onClose={onClose}
      onSubmit={async () => {
        await request('POST /api/companies/:companyId/routines', {
          params: { companyId: companyIdNow() },
          body: {
            title: title.trim(),
            description: description.trim() || null,
            assigneeAgentId,
            cron: cron.trim(),
            timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          },
        })
        invalidate('routines')
      }}
    >
      <TextField
        label="Title of its issues"
        autoFocus
        isRequired
        value={title}
        onInput={(value) => set({ title: value })}
      />
      <TextField label="Description" rows={3} value={description} onInput={(value) => set({ description: value })} />
      <div class="form-row">
        <Select
          label="Assignee"
          value={assigneeAgentId}
          options={able.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(value) => set({ assigneeAgentId: value })}
        />
        <TextField
          label="When"
          hint="Minute, hour, day, month, weekday: 0 9 * * 1-5 is 9:00 on workdays."
          value={cron}
          onInput={(value) => set({ cron: value })}
        />
      </div>
    </FormDialog>
  )
}
