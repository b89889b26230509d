import { useSignal } from '@preact/signals'
import folder from 'lucide-static/icons/folder.svg'
import plus from 'lucide-static/icons/plus.svg'
import { useLocation } from 'preact-iso'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { plainText, words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { List } from '../../kit/list.tsx'
import { Picker } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { useCommands } from '../../state/commands.ts'
import { agents, isLoaded, may, pathTo, projects } from '../../state/company.ts'
import type { Project } from '../../state/types.ts'
import { changeProject, PROJECT_STATUSES } from './change.ts'
import { NewProject } from './new-project.tsx'

/** The projects of the company. Active projects come first. */
export function ProjectsPage() {
  const { route } = useLocation()
  const isOpen = useSignal(false)
  const open = () => {
    isOpen.value = true
  }
  useCommands(
    may('member') ? [{ id: 'project.new', title: 'New project', keys: 'n', group: 'Projects', run: open }] : [],
  )
  const all = projects.all.value.toSorted((a, b) => rankOf(a) - rankOf(b))
  return (
    <Page
      title="Projects"
      layout="list"
      actions={
        may('member') &&
        all.length > 0 && (
          <Button kind="primary" icon={plus} hint="n" onClick={open}>
            New project
          </Button>
        )
      }
    >
      {!isLoaded.value ? (
        <Skeleton rows={6} height={44} />
      ) : all.length === 0 ? (
        <Empty
          title="No projects yet."
          action={
            may('member') && (
              <Button kind="primary" hint="n" onClick={open}>
                Create the first project
              </Button>
            )
          }
        >
          A project groups issues and sets the folder or repository in which agents work on them.
        </Empty>
      ) : (
        <List id="projects" label="Projects" rows={all} keyOf={({ id }) => id} heightOf={() => 44}>
          {(project) => <ProjectRow project={project} />}
        </List>
      )}
      {isOpen.value && (
        <NewProject
          onClose={() => {
            isOpen.value = false
          }}
          onCreated={({ id }) => route(pathTo(`projects/${id}`))}
        />
      )}
    </Page>
  )
}

const ORDER: readonly Project['status'][] = ['in_progress', 'active', 'planned', 'backlog', 'completed', 'cancelled']
const rankOf = ({ status }: Project) => ORDER.indexOf(status)

function ProjectRow({ project }: { project: Project }) {
  const lead = agents.get(project.leadAgentId)
  const place = project.primaryWorkspace
  return (
    <div class="project-row">
      <Icon svg={folder} />
      <a class="row-link clip" href={pathTo(`projects/${project.id}`)}>
        {project.name}
      </a>
      <span class="note clip project-text">{plainText(project.description ?? '')}</span>
      <span class="project-end">
        <span class="mono clip note">{place && (place.cwd ?? place.repoUrl)}</span>
        {project.targetDate && (
          <span class="note">
            due <time dateTime={project.targetDate}>{project.targetDate.slice(0, 10)}</time>
          </span>
        )}
        {lead && (
          <span title={`Lead: ${lead.name}`}>
            <Avatar name={lead.name} status={lead.status} />
          </span>
        )}
        <ProjectStatus project={project} />
      </span>
    </div>
  )
}

export function ProjectStatus({ project }: { project: Project }) {
  return (
    <Picker
      label={`Status: ${project.status}`}
      options={PROJECT_STATUSES.map((value) => ({ value, label: words(value) }))}
      value={project.status}
      isDisabled={!may('member')}
      onPick={(status) => void changeProject(project, { status })}
    >
      <span class="tag">{words(project.status)}</span>
    </Picker>
  )
}
