import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { useCommands } from '../../state/commands.ts'
import { goals, isLoaded, may } from '../../state/company.ts'
import { GoalTree } from './goal-tree.tsx'
import { NewGoal } from './new-goal.tsx'

/** The goals of the company as a tree. */
export function GoalsPage() {
  const draft = useSignal<{ parentId?: string } | undefined>(undefined)
  const open = () => {
    draft.value = {}
  }
  useCommands(may('member') ? [{ id: 'goal.new', title: 'New goal', keys: 'n', group: 'Goals', run: open }] : [])
  const all = goals.all.value
  return (
    <Page
      title="Goals"
      layout="list"
      actions={
        may('member') &&
        all.length > 0 && (
          <Button kind="primary" icon={plus} hint="n" onClick={open}>
            New goal
          </Button>
        )
      }
    >
      {!isLoaded.value ? (
        <Skeleton rows={6} height={40} />
      ) : all.length === 0 ? (
        <Empty
          title="No goals yet."
          action={
            may('member') && (
              <Button kind="primary" hint="n" onClick={open}>
                Set the first goal
              </Button>
            )
          }
        >
          A goal describes the purpose of the work. Agents read the goals of the issues that they work on.
        </Empty>
      ) : (
        <GoalTree
          roots={all.filter(({ parentId }) => !all.some(({ id }) => id === parentId))}
          onAdd={(parentId) => {
            draft.value = { parentId }
          }}
        />
      )}
      {draft.value && (
        <NewGoal
          {...draft.value}
          onClose={() => {
            draft.value = undefined
          }}
        />
      )}
    </Page>
  )
}
