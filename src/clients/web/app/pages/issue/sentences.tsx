import type { ComponentChildren } from 'preact'
import { type IssueStatus, STATUS_NAME } from '../../kit/status.tsx'
import { agents, goals, nameOf, projects } from '../../state/company.ts'
import type { Activity } from '../../state/types.ts'

type Changes = Record<string, { from?: unknown; to?: unknown }>

/** Describes an activity of an issue, without the actor. Returns undefined if the thread already contains it. */
export function sentenceOf({ action, details }: Activity): ComponentChildren {
  switch (action) {
    case 'issue.created':
      return 'created the issue'
    case 'issue.checked_out':
      return 'started work'
    case 'issue.released':
      return 'released the issue'
    case 'issue.updated':
      return describe((details?.changes ?? {}) as Changes)
    case 'issue.commented':
      return undefined
    case 'issue.reopened':
      return 'opened the issue again'
    case 'issue.runs_limited':
      return `delayed the next run: ${details?.runsInAnHour} runs started within an hour`
    case 'issue.approval_linked':
      return 'linked an approval'
    case 'issue.approval_unlinked':
      return 'unlinked an approval'
    case 'issue.interaction_created':
      return `asked a question${named(details?.title)}`
    case 'issue.interaction_answered':
      return `answered the question${named(details?.title)}`
    case 'issue.interaction_cancelled':
      return `withdrew the question${named(details?.title)}`
    case 'issue.document_created':
      return `added the document${named(details?.title ?? details?.key)}`
    case 'issue.document_updated':
      return `changed the document${named(details?.title ?? details?.key)}`
    case 'issue.document_deleted':
      return `deleted the document${named(details?.title ?? details?.key)}`
    case 'issue.attachment_added':
      return `attached the file${named(details?.fileName)}`
    case 'issue.attachment_removed':
      return `removed the file${named(details?.fileName)}`
    default:
      return action.split('.')[1]?.replaceAll('_', ' ') ?? action
  }
}

const named = (name: unknown) => (typeof name === 'string' && name !== '' ? ` ${name}` : '')

function describe(changes: Changes): ComponentChildren {
  const parts = Object.entries(changes).flatMap(([field, { to }]): string[] => {
    switch (field) {
      case 'status':
        return [`moved it to ${STATUS_NAME[to as IssueStatus] ?? to}`]
      case 'priority':
        return [`set the priority to ${to}`]
      case 'assigneeAgentId':
        return to ? [`assigned ${agents.get(String(to))?.name ?? 'an agent'}`] : []
      case 'assigneeUserId':
        return to ? [`assigned ${nameOf({ userId: String(to) })}`] : []
      case 'title':
        return ['changed the title']
      case 'description':
        return ['changed the description']
      case 'projectId':
        return [to ? `moved it to the project ${projects.get(String(to))?.name ?? ''}` : 'removed it from its project']
      case 'goalId':
        return [to ? `linked the goal ${goals.get(String(to))?.title ?? ''}` : 'unlinked the goal']
      case 'blockedByIssueIds':
        return ['changed its blockers']
      case 'labelIds':
        return ['changed the labels']
      default:
        return []
    }
  })
  return parts.length === 0 ? undefined : parts.join(', ')
}
