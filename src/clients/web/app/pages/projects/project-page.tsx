import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import more from 'lucide-static/icons/ellipsis.svg'
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
import { type Command, useCommands } from '../../state/commands.ts'
import { goals, isLoaded, may, pathTo, projects } from '../../state/company.ts'
import { openNewIssue } from '../../state/dialogs.ts'
import { placementChoices, usePlacements } from '../../state/placements.ts'
import type { Project } from '../../state/types.ts'
import { Assignee, agentOptions, goalOptions, NOBODY } from '../issues/choices.tsx'
import { IssuesOf } from '../issues/issues-of.tsx'
import { changeProject, deleteProject, PROJECT_STATUSES } from './change.ts'
import { ProjectStatus } from './projects-page.tsx'
import { Workspaces } from './workspaces.tsx'

/** The page of a project: its description, its workspaces and its open issues. */
export function ProjectPage() {
  const { projectId = '' } = useRoute().params
  const { route } = useLocation()
  const project = projects.all.value.find(({ id, urlKey }) => id === projectId || urlKey === projectId)
  const back = <Button kind="quiet" icon={arrowLeft} label="Back to the projects" href={pathTo('projects')} />
  useCommands([
    {
      id: 'project.back',
      title: 'Back to the projects',
      keys: 'Escape',
      group: 'Project',
      isKeyOnly: true,
      run: () => route(pathTo('projects')),
    },
    ...(project ? projectCommands(project, () => void remove(project)) : []),
  ])
  const remove = async (found: Project) => {
    if (await deleteProject(found)) route(pathTo('projects'))
  }
  if (!project) {
    return (
      <Page title="Project" trail={back}>
        {isLoaded.value ? (
          <Empty title="There is no such project." action={<Button href={pathTo('projects')}>All projects</Button>} />
        ) : (
          <Skeleton />
        )}
      </Page>
    )
  }
  const create = () => openNewIssue({ projectId: project.id })
  return (
    <Page
      title={project.name}
      heading="Project"
      layout="list"
      trail={back}
      actions={
        may('member') && (
          <>
            <Menu
              label="More actions"
              items={[
                { label: 'Show all its issues', run: () => route(`${pathTo('issues')}?project=${project.id}`) },
                { label: 'Delete…', run: () => void remove(project) },
              ]}
            >
              <Icon svg={more} />
            </Menu>
            <Button icon={plus} onClick={create}>
              New issue
            </Button>
          </>
        )
      }
    >
      <div class="detail">
        <div class="detail-main">
          <EditableTitle
            key={project.id}
            value={project.name}
            isFixed={!may('member')}
            onSave={(name) => changeProject(project, { name })}
          />
          <ProjectProperties project={project} />
          <EditableText
            key={`text-${project.id}`}
            value={project.description ?? ''}
            isFixed={!may('member')}
            onSave={(description) => changeProject(project, { description: description || null })}
          />
          <Workspaces project={project} />
          <IssuesOf of={{ projectId: project.id }} />
        </div>
      </div>
    </Page>
  )
}

/** The commands of a project, for the palette. */
function projectCommands(project: Project, remove: () => void): Command[] {
  if (!may('member')) return []
  const group = 'Project'
  const change = (id: string, title: string, changed: Parameters<typeof changeProject>[1]): Command => ({
    id: `project.${id}`,
    title,
    group,
    run: () => void changeProject(project, changed),
  })
  return [
    ...PROJECT_STATUSES.filter((status) => status !== project.status).map((status) =>
      change(`status.${status}`, `Set the status to ${words(status).toLowerCase()}`, { status }),
    ),
    ...agentOptions()
      .filter(({ value }) => value !== (project.leadAgentId ?? NOBODY))
      .map(({ value, label }) =>
        change(`lead.${value}`, value === NOBODY ? 'Remove the lead' : `Make ${label} the lead`, {
          leadAgentId: value === NOBODY ? null : value,
        }),
      ),
    ...goals.all.value.map(({ id, title }) =>
      change(`goal.${id}`, `${project.goalIds.includes(id) ? 'Remove' : 'Add'} the goal ${title}`, {
        goalIds: toggleGoal(project, id),
      }),
    ),
    {
      id: 'project.issue',
      title: 'New issue in this project',
      group,
      run: () => openNewIssue({ projectId: project.id }),
    },
    { id: 'project.delete', title: 'Delete the project', group, run: remove },
  ]
}

const toggleGoal = ({ goalIds }: Project, id: string) =>
  goalIds.includes(id) ? goalIds.filter((one) => one !== id) : [...goalIds, id]

function ProjectProperties({ project }: { project: Project }) {
  const isFixed = !may('member')
  const placements = usePlacements().data.value ?? []
  const choices = placementChoices(placements, 'The default')
  return (
    <aside class="properties" aria-label="Properties">
      <dl>
        <dt>Status</dt>
        <dd>
          <ProjectStatus project={project} />
        </dd>
        <dt>Lead</dt>
        <dd>
          <Picker
            label="Lead"
            options={agentOptions}
            value={project.leadAgentId ?? NOBODY}
            isDisabled={isFixed}
            onPick={(id) => void changeProject(project, { leadAgentId: id === NOBODY ? null : id })}
          >
            <Assignee agentId={project.leadAgentId} userId={null} isNamed />
          </Picker>
        </dd>
        <dt>Due</dt>
        <dd>
          <input
            type="date"
            aria-label="Due date"
            disabled={isFixed}
            value={project.targetDate?.slice(0, 10) ?? ''}
            onChange={(event) => void changeProject(project, { targetDate: event.currentTarget.value || null })}
          />
        </dd>
        <dt>Goals</dt>
        <dd>
          <Picker
            label="Goals"
            isMultiple
            options={goalOptions().slice(1)}
            value={project.goalIds}
            isDisabled={isFixed || goals.all.value.length === 0}
            onPick={(id) => void changeProject(project, { goalIds: toggleGoal(project, id) })}
          >
            {project.goals.length === 0 ? (
              <span class="none">None</span>
            ) : (
              <span class="clip">{project.goals.map(({ title }) => title).join(', ')}</span>
            )}
          </Picker>
        </dd>
        {(placements.length > 0 || project.placement !== null) && (
          <>
            <dt>Runs in</dt>
            <dd>
              <Picker
                label="Placement"
                options={choices}
                value={project.placement ?? ''}
                isDisabled={isFixed}
                onPick={(placement) => void changeProject(project, { placement: placement || null })}
              >
                <span class={project.placement ? 'clip' : 'none'}>
                  {choices.find(({ value }) => value === (project.placement ?? ''))?.label ?? project.placement}
                </span>
              </Picker>
            </dd>
          </>
        )}
      </dl>
      <dl class="facts">
        <dt>Created</dt>
        <dd>
          <Ago at={project.createdAt} />
        </dd>
        <dt>Updated</dt>
        <dd>
          <Ago at={project.updatedAt} />
        </dd>
      </dl>
    </aside>
  )
}
