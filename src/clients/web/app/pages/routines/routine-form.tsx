import { useSignal } from '@preact/signals'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { type Received, request } from '../../state/api.ts'
import { agents, companyIdNow, projects } from '../../state/company.ts'
import { invalidate } from '../../state/query.ts'
import { type Choice, DEFAULT, toChoice, toSchedule, WEEKDAYS } from './schedule.ts'

export type Routine = Received<'GET /api/companies/:companyId/routines'>[number]

const EVERY = [
  { value: 'day', label: 'Every day' },
  { value: 'workday', label: 'Every workday' },
  { value: 'week', label: 'Every week' },
  { value: 'month', label: 'Every month' },
  { value: 'interval', label: 'Every few hours' },
  { value: 'custom', label: 'A cron expression' },
] as const

const OVERLAPS = [
  { value: 'skip', label: 'Skip this time' },
  { value: 'queue', label: 'Wait until it is over' },
  { value: 'allow', label: 'Create another one' },
] as const

/** The dialog that creates a routine, or changes one. */
export function RoutineForm({ routine, onClose }: { routine?: Routine; onClose: () => void }) {
  const able = agents.all.value.filter(({ status }) => status !== 'terminated')
  const choice = useSignal<Choice>(routine ? toChoice(routine) : DEFAULT)
  const fields = useSignal({
    title: routine?.title ?? '',
    description: routine?.description ?? '',
    assigneeAgentId: routine?.assigneeAgentId ?? able[0]?.id ?? '',
    projectId: routine?.projectId ?? '',
    overlap: routine?.overlap ?? ('skip' as Routine['overlap']),
  })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const choose = (changed: Partial<Choice>) => {
    choice.value = { ...choice.peek(), ...changed }
  }
  const { title, description, assigneeAgentId, projectId, overlap } = fields.value
  const { every } = choice.value
  const timeZone = routine?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  const submit = async () => {
    const schedule = toSchedule(choice.peek())
    const body = {
      title: title.trim(),
      description: description.trim() || null,
      assigneeAgentId,
      projectId: projectId || null,
      overlap,
      ...schedule,
      timeZone: schedule.cron === null ? null : timeZone,
    }
    if (routine) await request('PATCH /api/routines/:routineId', { params: { routineId: routine.id }, body })
    else await request('POST /api/companies/:companyId/routines', { params: { companyId: companyIdNow() }, body })
    invalidate('routines')
  }
  return (
    <FormDialog
      title={routine ? 'Change the routine' : 'New routine'}
      action={routine ? 'Save' : 'Create routine'}
      width={560}
      onClose={onClose}
      onSubmit={submit}
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
          label="When"
          value={every}
          options={EVERY}
          {...(every !== 'interval' && { hint: `Times are in ${timeZone}.` })}
          onChange={(value) => choose({ every: value })}
        />
        <When choice={choice.value} onChange={choose} />
      </div>
      <div class="form-row">
        <Select
          label="Assignee"
          value={assigneeAgentId}
          options={able.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(value) => set({ assigneeAgentId: value })}
        />
        <Select
          label="Project"
          value={projectId}
          options={[
            { value: '', label: 'No project' },
            ...projects.all.value.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(value) => set({ projectId: value })}
        />
      </div>
      <Select
        label="If its last issue is still open"
        value={overlap}
        options={OVERLAPS}
        onChange={(value) => set({ overlap: value })}
      />
    </FormDialog>
  )
}

function When({ choice, onChange }: { choice: Choice; onChange: (changed: Partial<Choice>) => void }) {
  const { every, time, weekday, day, hours, cron } = choice
  if (every === 'interval')
    return (
      <TextField
        label="Interval in hours"
        type="number"
        value={hours}
        onInput={(value) => onChange({ hours: value })}
      />
    )
  if (every === 'custom')
    return (
      <TextField
        label="Expression"
        isMono
        hint="Minute, hour, day, month, weekday."
        value={cron}
        onInput={(value) => onChange({ cron: value })}
      />
    )
  return (
    <div class={every === 'day' || every === 'workday' ? '' : 'form-row'}>
      {every === 'week' && (
        <Select
          label="On"
          value={weekday}
          options={WEEKDAYS.map((label, index) => ({ value: String(index), label }))}
          onChange={(value) => onChange({ weekday: value })}
        />
      )}
      {every === 'month' && (
        <TextField label="On day" type="number" value={day} onInput={(value) => onChange({ day: value })} />
      )}
      <TextField label="At" type="time" value={time} onInput={(value) => onChange({ time: value })} />
    </div>
  )
}
