import userRound from 'lucide-static/icons/circle-user-round.svg'
import folder from 'lucide-static/icons/folder.svg'
import type { ComponentChildren } from 'preact'
import { Avatar } from '../../kit/avatar.tsx'
import { words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { type Option, Picker } from '../../kit/menu.tsx'
import {
  type IssueStatus,
  PRIORITIES,
  type Priority,
  PriorityGlyph,
  STATUS_NAME,
  STATUSES,
  StatusGlyph,
} from '../../kit/status.tsx'
import { agents, goals, labels, members, nameOf, projects, session } from '../../state/company.ts'
import type { Issue } from '../../state/types.ts'

export const NOBODY = 'nobody'

export const statusOptions = (): Option<IssueStatus>[] =>
  STATUSES.map((value) => ({ value, label: STATUS_NAME[value], icon: <StatusGlyph status={value} /> }))

export const priorityOptions = (): Option<Priority>[] =>
  PRIORITIES.map((value) => ({ value, label: words(value), icon: <PriorityGlyph priority={value} /> }))

const nobody: Option = { value: NOBODY, label: 'Nobody', icon: <Icon svg={userRound} /> }

/** The agents that issues can be assigned to. */
export const agentOptions = (): Option[] => [
  nobody,
  ...agents.all.value
    .filter(({ status }) => status !== 'terminated' && status !== 'pending_approval')
    .map((agent) => ({
      value: agent.id,
      label: agent.name,
      icon: <Avatar name={agent.name} status={agent.status} />,
      note: agent.title ?? words(agent.role),
    })),
]

/** The possible assignees: agents, then people. An id is unique among both. */
export function assigneeOptions(): Option[] {
  const me = session.value
  const people = members.all.value
  const list =
    people.some(({ userId }) => userId === me?.userId) || !me
      ? people
      : [{ userId: me.userId, name: me.name ?? 'You' }, ...people]
  return [
    ...agentOptions(),
    ...list.map((person) => ({
      value: person.userId,
      label: person.userId === me?.userId && me.name === null ? 'You' : person.name,
      icon: <Avatar name={person.name} isPerson />,
    })),
  ]
}

/** Converts an assignee's id to the fields of an issue. */
export function toAssignee(id: string): { assigneeAgentId: string | null; assigneeUserId: string | null } {
  if (id === NOBODY) return { assigneeAgentId: null, assigneeUserId: null }
  return agents.row(id).peek()
    ? { assigneeAgentId: id, assigneeUserId: null }
    : { assigneeAgentId: null, assigneeUserId: id }
}

export const projectOptions = (): Option[] => [
  { value: NOBODY, label: 'No project' },
  ...projects.all.value.map(({ id, name }) => ({ value: id, label: name, icon: <Icon svg={folder} size={14} /> })),
]

export const goalOptions = (): Option[] => [
  { value: NOBODY, label: 'No goal' },
  ...goals.all.value.map(({ id, title }) => ({ value: id, label: title })),
]

export const labelOptions = (): Option[] =>
  labels.all.value.map(({ id, name, color }) => ({ value: id, label: name, icon: <Dot color={color} /> }))

export const Dot = ({ color }: { color: string | null }) => (
  <span class="dot" style={color ? { background: color } : {}} />
)

/** Returns the name of the assignee of an issue. */
export function assigneeName({ assigneeAgentId, assigneeUserId }: Pick<Issue, 'assigneeAgentId' | 'assigneeUserId'>) {
  return assigneeAgentId || assigneeUserId ? nameOf({ agentId: assigneeAgentId, userId: assigneeUserId }) : 'nobody'
}

/** The assignee of an issue: an avatar, and the name if there is space. */
export function Assignee({
  agentId,
  userId,
  isNamed,
}: {
  agentId: string | null
  userId: string | null
  isNamed?: boolean
}) {
  const agent = agents.get(agentId)
  if (agent) {
    return (
      <span class="who">
        <Avatar name={agent.name} status={agent.status} />
        {isNamed && <span class="clip">{agent.name}</span>}
      </span>
    )
  }
  if (userId === null) {
    return (
      <span class="who none">
        <Icon svg={userRound} size={18} />
        {isNamed && <span>Nobody</span>}
      </span>
    )
  }
  const me = session.value
  const name = members.get(userId)?.name ?? (userId === me?.userId ? (me.name ?? 'You') : 'A person')
  return (
    <span class="who">
      <Avatar name={name} isPerson />
      {isNamed && <span class="clip">{userId === me?.userId ? 'You' : name}</span>}
    </span>
  )
}

/** The button of a filter or a property, with its name and the selected values. */
export function Chip<T extends string>(props: {
  label: string
  options: readonly Option<T>[] | (() => readonly Option<T>[])
  value: T | readonly T[] | undefined
  onPick: (value: T) => void
  children: ComponentChildren
  isOn?: boolean
  isMultiple?: boolean
  isDisabled?: boolean
}) {
  const { isOn, ...picker } = props
  return <Picker {...picker} class={`chip${isOn ? ' on' : ''}`} />
}
