import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import target from 'lucide-static/icons/target.svg'
import { AgentName } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu, Picker } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { agents, companyIdNow, goals, isLoaded, may, pathTo } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Goal } from '../../state/types.ts'

const STATUSES = ['planned', 'active', 'achieved', 'cancelled'] as const
const LEVELS = ['company', 'team', 'agent', 'task'] as const
const NONE = ''

interface Draft {
  goal?: Goal
  parentId?: string
}

/** The goals of the company as a tree: each stands below the one that it serves. */
export function GoalsPage() {
  const draft = useSignal<Draft | undefined>(undefined)
  const open = (known: Draft) => {
    draft.value = known
  }
  useCommands(
    may('member') ? [{ id: 'goal.new', title: 'New goal', keys: 'n', group: 'Goals', run: () => open({}) }] : [],
  )
  const all = goals.all.value
  const roots = all.filter(({ parentId }) => !all.some(({ id }) => id === parentId))
  return (
    <Page
      title="Goals"
      actions={
        may('member') &&
        all.length > 0 && (
          <Button kind="primary" icon={plus} hint="n" onClick={() => open({})}>
            New goal
          </Button>
        )
      }
    >
      {!isLoaded.value ? (
        <Skeleton rows={6} height={36} />
      ) : all.length === 0 ? (
        <Empty
          title="No goals yet."
          action={
            may('member') && (
              <Button kind="primary" hint="n" onClick={() => open({})}>
                Set the first goal
              </Button>
            )
          }
        >
          A goal says what the work is for. Agents read the goals of the issues that they work on.
        </Empty>
      ) : (
        <div class="tree" role="list" aria-label="Goals">
          {roots.map((goal) => (
            <Branch key={goal.id} goal={goal} all={all} depth={0} onOpen={open} />
          ))}
        </div>
      )}
      {draft.value && (
        <Form
          {...draft.value}
          onClose={() => {
            draft.value = undefined
          }}
        />
      )}
    </Page>
  )
}

function Branch({
  goal,
  all,
  depth,
  onOpen,
}: {
  goal: Goal
  all: readonly Goal[]
  depth: number
  onOpen: (draft: Draft) => void
}) {
  const owner = agents.get(goal.ownerAgentId)
  const children = all.filter(({ parentId }) => parentId === goal.id)
  return (
    <>
      <div class="tree-row" role="listitem" style={{ paddingInlineStart: `${depth * 24}px` }}>
        <span class={`goal-mark ${goal.status}`}>
          <Icon svg={target} />
        </span>
        {may('member') ? (
          <button type="button" class="tree-name clip" onClick={() => onOpen({ goal })}>
            {goal.title}
          </button>
        ) : (
          <span class="tree-name clip">{goal.title}</span>
        )}
        <span class="note">{words(goal.level)}</span>
        <span class="tree-end">
          {owner && (
            <span class="tree-owner">
              <AgentName agent={owner} />
            </span>
          )}
          <Picker
            label={`Status: ${goal.status}`}
            options={STATUSES.map((value) => ({ value, label: words(value) }))}
            value={goal.status}
            isDisabled={!may('member')}
            onPick={(status) => void change(goal, { status })}
          >
            <span class={`tag goal-${goal.status}`}>{words(goal.status)}</span>
          </Picker>
          {may('member') && (
            <Menu
              label={`Actions of ${goal.title}`}
              items={[
                { label: 'New goal below it', run: () => onOpen({ parentId: goal.id }) },
                { label: 'Show its issues', run: () => location.assign(`${pathTo('issues')}?goal=${goal.id}`) },
                { label: 'Delete', run: () => void remove(goal) },
              ]}
            >
              <span aria-hidden="true">⋯</span>
            </Menu>
          )}
        </span>
      </div>
      {children.map((child) => (
        <Branch key={child.id} goal={child} all={all} depth={depth + 1} onOpen={onOpen} />
      ))}
    </>
  )
}

async function change(goal: Goal, fields: Partial<Goal>): Promise<void> {
  const saved = await act(
    () => request('PATCH /api/goals/:goalId', { params: { goalId: goal.id }, body: fields }),
    () => goals.patch(goal.id, fields),
  )
  if (saved) goals.put(saved)
}

async function remove(goal: Goal): Promise<void> {
  const removed = await act(() => request('DELETE /api/goals/:goalId', { params: { goalId: goal.id } }))
  if (!removed) return
  goals.remove(goal.id)
  toast(`“${goal.title}” was deleted.`)
}

function Form({ goal, parentId, onClose }: Draft & { onClose: () => void }) {
  const fields = useSignal({
    title: goal?.title ?? '',
    description: goal?.description ?? '',
    level: goal?.level ?? 'team',
    parentId: goal?.parentId ?? parentId ?? NONE,
    ownerAgentId: goal?.ownerAgentId ?? NONE,
  })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const { title, description, level, parentId: parent, ownerAgentId } = fields.value
  return (
    <FormDialog
      title={goal ? 'Change the goal' : 'New goal'}
      action={goal ? 'Save' : 'Create goal'}
      onClose={onClose}
      onSubmit={async () => {
        const body = {
          title: title.trim(),
          description: description.trim() || null,
          level,
          parentId: parent || null,
          ownerAgentId: ownerAgentId || null,
        }
        goals.put(
          goal
            ? await request('PATCH /api/goals/:goalId', { params: { goalId: goal.id }, body })
            : await request('POST /api/companies/:companyId/goals', { params: { companyId: companyIdNow() }, body }),
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
            ...goals.all.value
              .filter(({ id }) => id !== goal?.id)
              .map(({ id, title }) => ({ value: id, label: title })),
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
          ...agents.all.value.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(value) => set({ ownerAgentId: value })}
      />
    </FormDialog>
  )
}
