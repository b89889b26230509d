import { useSignal } from '@preact/signals'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../kit/format.ts'
import { request } from '../../state/api.ts'
import { agents, companyIdNow, goals } from '../../state/company.ts'
import { LEVELS } from './change.ts'

const NONE = ''

/** The dialog that creates a goal, as a subgoal of `parentId` if it is set. */
export function NewGoal({ parentId = NONE, onClose }: { parentId?: string | undefined; onClose: () => void }) {
  const fields = useSignal({
    title: '',
    description: '',
    level: (goals.all.peek().length === 0 ? 'company' : 'team') as (typeof LEVELS)[number],
    parentId,
    ownerAgentId: NONE,
  })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const { title, description, level, parentId: parent, ownerAgentId } = fields.value
  return (
    <FormDialog
      title="New goal"
      action="Create goal"
      onClose={onClose}
      onSubmit={async () => {
        goals.put(
          await request('POST /api/companies/:companyId/goals', {
            params: { companyId: companyIdNow() },
            body: {
              title: title.trim(),
              description: description.trim() || null,
              level,
              parentId: parent || null,
              ownerAgentId: ownerAgentId || null,
            },
          }),
        )
      }}
    >
      <TextField label="Title" autoFocus isRequired value={title} onInput={(value) => set({ title: value })} />
      <TextField label="Description" rows={3} value={description} onInput={(value) => set({ description: value })} />
      <div class="form-row">
        <Select
          label="Serves"
          value={parent}
          options={[
            { value: NONE, label: 'No other goal' },
            ...goals.all.value.map((goal) => ({ value: goal.id, label: goal.title })),
          ]}
          onChange={(value) => set({ parentId: value })}
        />
        <Select
          label="Level"
          value={level}
          options={LEVELS.map((value) => ({ value, label: words(value) }))}
          onChange={(value) => set({ level: value })}
        />
      </div>
      <Select
        label="Owner"
        value={ownerAgentId}
        options={[
          { value: NONE, label: 'Nobody' },
          ...agents.all.value
            .filter(({ status }) => status !== 'terminated')
            .map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(value) => set({ ownerAgentId: value })}
      />
    </FormDialog>
  )
}
