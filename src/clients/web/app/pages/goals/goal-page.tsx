import { useSignal } from '@preact/signals'
import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import more from 'lucide-static/icons/ellipsis.svg'
import folder from 'lucide-static/icons/folder.svg'
import plus from 'lucide-static/icons/plus.svg'
import { useLocation, useRoute } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { EditableText, EditableTitle } from '../../kit/editable.tsx'
import { words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu, Picker } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { useCommands } from '../../state/commands.ts'
import { goals, isLoaded, may, pathTo, projects } from '../../state/company.ts'
import { openNewIssue } from '../../state/dialogs.ts'
import type { Goal } from '../../state/types.ts'
import { Assignee, agentOptions, goalOptions, NOBODY } from '../issues/choices.tsx'
import { IssuesOf } from '../issues/issues-of.tsx'
import { changeGoal, deleteGoal, LEVELS } from './change.ts'
import { GoalStatus, GoalTree } from './goal-tree.tsx'
import { NewGoal } from './new-goal.tsx'

/** The page of a goal: its subgoals, its projects and its open issues. */
export function GoalPage() {
  const { goalId = '' } = useRoute().params
  const { route } = useLocation()
  const parentOfNew = useSignal<string | undefined>(undefined)
  const goal = goals.get(goalId)
  const back = <Button kind="quiet" icon={arrowLeft} label="Back to the goals" href={pathTo('goals')} />
  useCommands([
    {
      id: 'goal.back',
      title: 'Back to the goals',
      keys: 'Escape',
      group: 'Goal',
      isKeyOnly: true,
      run: () => route(pathTo('goals')),
    },
  ])
  if (!goal) {
    return (
      <Page title="Goal" trail={back}>
        {isLoaded.value ? (
          <Empty title="There is no such goal." action={<Button href={pathTo('goals')}>All goals</Button>} />
        ) : (
          <Skeleton />
        )}
      </Page>
    )
  }
  const add = (parentId: string) => {
    parentOfNew.value = parentId
  }
  const remove = async () => {
    if (await deleteGoal(goal)) route(pathTo('goals'))
  }
  const below = goals.all.value.filter(({ parentId }) => parentId === goal.id)
  const serving = projects.all.value.filter(({ goalIds }) => goalIds.includes(goal.id))
  return (
    <Page
      title={goal.title}
      heading="Goal"
      layout="list"
      trail={back}
      actions={
        may('member') && (
          <>
            <Menu
              label="More actions"
              items={[
                { label: 'New subgoal', run: () => add(goal.id) },
                { label: 'Show all issues', run: () => route(`${pathTo('issues')}?goal=${goal.id}`) },
                { label: 'Delete', run: () => void remove() },
              ]}
            >
              <Icon svg={more} />
            </Menu>
            <Button icon={plus} onClick={() => openNewIssue({ goalId: goal.id })}>
              New issue
            </Button>
          </>
        )
      }
    >
      <div class="detail">
        <div class="detail-main">
          <EditableTitle
            key={goal.id}
            value={goal.title}
            isFixed={!may('member')}
            onSave={(title) => changeGoal(goal, { title })}
          />
          <GoalProperties goal={goal} />
          <EditableText
            key={`text-${goal.id}`}
            value={goal.description ?? ''}
            isFixed={!may('member')}
            onSave={(description) => changeGoal(goal, { description: description || null })}
          />
          {below.length > 0 && (
            <section class="rows" aria-label="Subgoals">
              <header class="section-head">
                <h3>Subgoals</h3>
                <span class="num">{below.length}</span>
              </header>
              <GoalTree roots={below} onAdd={add} />
            </section>
          )}
          {serving.length > 0 && (
            <section class="rows" aria-label="Projects">
              <header class="section-head">
                <h3>Projects</h3>
                <span class="num">{serving.length}</span>
              </header>
              <ul class="lines">
                {serving.map((project) => (
                  <li key={project.id}>
                    <Icon svg={folder} />
                    <a class="link clip" href={pathTo(`projects/${project.id}`)}>
                      {project.name}
                    </a>
                    <span class="line-end tag">{words(project.status)}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <IssuesOf of={{ goalId: goal.id }} />
        </div>
      </div>
      {parentOfNew.value && (
        <NewGoal
          parentId={parentOfNew.value}
          onClose={() => {
            parentOfNew.value = undefined
          }}
        />
      )}
    </Page>
  )
}

function GoalProperties({ goal }: { goal: Goal }) {
  const isFixed = !may('member')
  const orNull = (id: string) => (id === NOBODY ? null : id)
  return (
    <aside class="properties" aria-label="Properties">
      <dl>
        <dt>Status</dt>
        <dd>
          <GoalStatus goal={goal} />
        </dd>
        <dt>Level</dt>
        <dd>
          <Picker
            label="Level"
            options={LEVELS.map((value) => ({ value, label: words(value) }))}
            value={goal.level}
            isDisabled={isFixed}
            onPick={(level) => void changeGoal(goal, { level })}
          >
            {words(goal.level)}
          </Picker>
        </dd>
        <dt>Owner</dt>
        <dd>
          <Picker
            label="Owner"
            options={agentOptions}
            value={goal.ownerAgentId ?? NOBODY}
            isDisabled={isFixed}
            onPick={(id) => void changeGoal(goal, { ownerAgentId: orNull(id) })}
          >
            <Assignee agentId={goal.ownerAgentId} userId={null} isNamed />
          </Picker>
        </dd>
        <dt>Serves</dt>
        <dd>
          <Picker
            label="Serves"
            options={goalOptions().filter(({ value }) => value !== goal.id)}
            value={goal.parentId ?? NOBODY}
            isDisabled={isFixed}
            onPick={(id) => void changeGoal(goal, { parentId: orNull(id) })}
          >
            <span class="clip">{goals.get(goal.parentId)?.title ?? <span class="none">No other goal</span>}</span>
          </Picker>
        </dd>
      </dl>
      <dl class="facts">
        <dt>Created</dt>
        <dd>
          <Ago at={goal.createdAt} />
        </dd>
      </dl>
    </aside>
  )
}
