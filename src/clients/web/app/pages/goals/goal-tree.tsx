import ellipsis from 'lucide-static/icons/ellipsis.svg'
import target from 'lucide-static/icons/target.svg'
import { useLocation } from 'preact-iso'
import { AgentName } from '../../kit/avatar.tsx'
import { words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu, Picker } from '../../kit/menu.tsx'
import { agents, goals, may, pathTo } from '../../state/company.ts'
import type { Goal } from '../../state/types.ts'
import { changeGoal, deleteGoal, GOAL_STATUSES } from './change.ts'

interface TreeProps {
  roots: readonly Goal[]
  /** Opens the dialog that creates a subgoal. */
  onAdd: (parentId: string) => void
}

/** The tree of goals. */
export function GoalTree({ roots, onAdd }: TreeProps) {
  return (
    <div class="tree" role="list" aria-label="Goals">
      {roots.map((goal) => (
        <Branch key={goal.id} goal={goal} depth={0} onAdd={onAdd} />
      ))}
    </div>
  )
}

function Branch({ goal, depth, onAdd }: { goal: Goal; depth: number; onAdd: TreeProps['onAdd'] }) {
  const { route } = useLocation()
  const owner = agents.get(goal.ownerAgentId)
  const children = goals.all.value.filter(({ parentId }) => parentId === goal.id)
  return (
    <>
      <div class="tree-row" role="listitem" style={{ paddingInlineStart: `${20 + depth * 24}px` }}>
        <span class={`goal-mark ${goal.status}`}>
          <Icon svg={target} />
        </span>
        <a class="row-link clip" href={pathTo(`goals/${goal.id}`)}>
          {goal.title}
        </a>
        <span class="note">{words(goal.level)}</span>
        <span class="tree-end">
          {owner && (
            <span class="tree-owner">
              <AgentName agent={owner} />
            </span>
          )}
          <GoalStatus goal={goal} />
          {may('member') && (
            <Menu
              label={`Actions of ${goal.title}`}
              items={[
                { label: 'New subgoal', run: () => onAdd(goal.id) },
                { label: 'Show its issues', run: () => route(`${pathTo('issues')}?goal=${goal.id}`) },
                { label: 'Delete', run: () => void deleteGoal(goal) },
              ]}
            >
              <Icon svg={ellipsis} />
            </Menu>
          )}
        </span>
      </div>
      {children.map((child) => (
        <Branch key={child.id} goal={child} depth={depth + 1} onAdd={onAdd} />
      ))}
    </>
  )
}

export function GoalStatus({ goal }: { goal: Goal }) {
  return (
    <Picker
      label={`Status: ${goal.status}`}
      options={GOAL_STATUSES.map((value) => ({ value, label: words(value) }))}
      value={goal.status}
      isDisabled={!may('member')}
      onPick={(status) => void changeGoal(goal, { status })}
    >
      <span class="tag">{words(goal.status)}</span>
    </Picker>
  )
}
