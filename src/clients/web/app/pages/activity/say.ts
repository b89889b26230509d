import { words } from '../../kit/format.ts'
import { agents, goals, issues, labels, pathTo, projects } from '../../state/company.ts'
import type { Activity } from '../../state/types.ts'

const SENTENCES: Record<string, string> = {
  'issue.checked_out': 'started work on',
  'issue.released': 'released',
  'issue.commented': 'commented on',
  'issue.created': 'created',
  'issue.updated': 'changed',
  'agent.heartbeat_skipped': 'skipped a run of',
  'agent.budget_changed': 'changed the budget of',
  'agent.hire_requested': 'requested the hire of',
  'agent.costs_unpriced': 'found costs without a price of',
  'agent.key_created': 'created a key of',
  'agent.key_revoked': 'revoked a key of',
  'agent.invoked': 'woke',
  'agent.held': 'delayed',
  'run.started': 'started',
  'run.finished': 'finished',
  'company.budget_changed': 'changed the budget of',
  'company.invited': 'invited a person to',
  'company.stopped': 'stopped',
  'company.thawed': 'resumed',
  'approval.created': 'requested',
}

/** Returns the verb of an activity. */
export const verbOf = ({ action }: Activity) => SENTENCES[action] ?? words(action.split('.')[1] ?? action).toLowerCase()

/** Returns the name of the entity of an activity, and the address of its page if there is one. */
export function subjectOf({ entityType, entityId, agentId, details }: Activity): {
  name: string
  href: string | undefined
} {
  const text = (key: string) => (typeof details?.[key] === 'string' ? (details[key] as string) : undefined)
  const other = text('name') ?? text('title') ?? text('identifier')
  switch (entityType) {
    case 'issue': {
      const issue = issues.get(entityId)
      const identifier = issue?.identifier ?? text('identifier')
      return {
        name: issue ? `${issue.identifier} ${issue.title}` : (other ?? 'an issue'),
        href: pathTo(`issues/${identifier ?? entityId}`),
      }
    }
    case 'agent': {
      const agent = agents.get(entityId)
      return { name: agent?.name ?? other ?? 'an agent', href: agent && pathTo(`agents/${agent.urlKey}`) }
    }
    case 'run': {
      const agent = agents.get(agentId)
      return { name: agent ? `a run of ${agent.name}` : 'a run', href: pathTo(`runs/${entityId}`) }
    }
    case 'approval':
      return { name: other ?? 'an approval', href: pathTo('approvals') }
    case 'project':
      return { name: called('project', projects.get(entityId)?.name ?? other), href: pathTo(`projects/${entityId}`) }
    case 'goal':
      return { name: called('goal', goals.get(entityId)?.title ?? other), href: pathTo(`goals/${entityId}`) }
    case 'label':
      return { name: called('label', labels.get(entityId)?.name ?? other), href: undefined }
    case 'company':
      return { name: 'the company', href: pathTo('settings') }
    default:
      return {
        name: called(entityType.replaceAll('_', ' '), other),
        href: PAGES.includes(`${entityType}s`) ? pathTo(`${entityType}s`) : undefined,
      }
  }
}

/** Returns `the goal Ship it`, or `a goal` if the name is not known. */
const called = (noun: string, name: string | undefined) => (name ? `the ${noun} ${name}` : `a ${noun}`)

const PAGES = ['routines', 'skills', 'secrets', 'members']
