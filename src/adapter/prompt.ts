import { HEARTBEAT_SKILL } from './heartbeat-skill.ts'

/** The parts of a run's prompt. Texts of other authors are quoted unchanged and marked as theirs. */
export interface PromptParts {
  agent: { id: string; name: string; role: string; title: string | null }
  company: { id: string; name: string }
  runId: string
  /** The reasons of the wake: `timer`, `issue_assigned`, `mention`, ... */
  reasons: string[]
  issue: { id: string; identifier: string; title: string } | null
  comment: { id: string; author: string; body: string } | null
  approval: {
    id: string
    type: string
    status: string
    /** The title of a `request_board_approval`. Null for other types. */
    title: string | null
    chosenOption: string | null
    decisionNote: string | null
  } | null
  /** The causes that concern other issues and approvals. */
  others: {
    source: string
    issue: { id: string; identifier: string; title: string } | null
    commentId: string | null
    approval: PromptParts['approval']
  }[]
  /** The instructions, if the adapter passes them in the prompt. Otherwise null. */
  instructions: { path: string; text: string } | null
  /** The skills in SERVICE_SKILLS_DIR. `path` is the folder of a skill. */
  skills: { name: string; description: string | null; path: string }[]
  /** `adapterConfig.promptTemplate`: the beginning of the prompt, or null for the built-in one. */
  promptTemplate: string | null
}

const OPENING =
  'You are {{agent.name}} ({{agent.title}}), an agent of the company {{company.name}}. This is one heartbeat: a short run, unattended. Do the work that is yours, say what you did, and end.'

/** Builds the prompt of one run. */
export function buildPrompt(parts: PromptParts): string {
  const { instructions } = parts
  return [
    fillIn(parts.promptTemplate?.trim() || OPENING, parts),
    ...(instructions ? [`# Your instructions (${instructions.path})\n\n${instructions.text.trim()}`] : []),
    HEARTBEAT_SKILL.trim(),
    ...skillsSection(parts),
    wakeSection(parts),
  ].join('\n\n')
}

/** The placeholders that a template may use, as `{{name}}`. */
export const PLACEHOLDERS: Record<string, (parts: PromptParts) => string> = {
  'agent.id': (parts) => parts.agent.id,
  'agent.name': (parts) => parts.agent.name,
  'agent.role': (parts) => parts.agent.role,
  'agent.title': (parts) => parts.agent.title ?? parts.agent.role,
  'company.id': (parts) => parts.company.id,
  'company.name': (parts) => parts.company.name,
  'run.id': (parts) => parts.runId,
  'wake.reasons': (parts) => parts.reasons.join(', '),
  'issue.identifier': (parts) => parts.issue?.identifier ?? '',
  'issue.title': (parts) => parts.issue?.title ?? '',
}

/** Replaces the known placeholders in one pass, so placeholders in a name or title are not expanded. */
const fillIn = (template: string, parts: PromptParts): string =>
  template.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(PLACEHOLDERS, name) ? PLACEHOLDERS[name]!(parts) : whole,
  )

/** Lists the names and descriptions of the skills. The agent reads a skill when it needs it. */
function skillsSection({ skills }: PromptParts): string[] {
  if (skills.length === 0) return []
  const lines = skills.map(({ name, description, path }) => {
    const about = description?.replaceAll(/\s+/g, ' ').slice(0, SHOWN_DESCRIPTION)
    return `- ${name} (${path}/SKILL.md)${about ? `: ${about}` : ''}`
  })
  const intro =
    'Before you do what one of these describes, read its SKILL.md; the paths in it are relative to its folder.'
  return [['# Your skills', '', intro, '', ...lines].join('\n')]
}

/** The length limit of a skill's description in the prompt, in characters. */
const SHOWN_DESCRIPTION = 1_000

type Approval = NonNullable<PromptParts['approval']>

function approvalText({ id, type, status, title, chosenOption }: Approval): string {
  const about = title === null ? type : `${type} "${title}"`
  const decision = chosenOption === null ? status : `${status}: ${chosenOption}`
  return `Approval: ${about}, ${decision} (id ${id}).`
}

const approvalLines = (approval: Approval) => [
  `${approvalText(approval)} Follow it up first.`,
  ...(approval.decisionNote === null ? [] : ['The board says:', '', ...quoted(approval.decisionNote)]),
]

const quoted = (text: string) => text.split('\n').map((line) => `> ${line}`)

/** The maximum number of other causes in the prompt. */
const MAX_OTHERS = 20

function otherLines(others: PromptParts['others']): string[] {
  const lines = others.slice(0, MAX_OTHERS).map(({ source, issue, commentId, approval }) => {
    if (approval) return `- ${approvalText(approval)}`
    const comment = commentId === null ? '' : `, comment ${commentId}`
    return `- ${issue!.identifier} "${issue!.title}" (id ${issue!.id}): ${source}${comment}`
  })
  const rest = others.length - lines.length
  return [
    'You were woken for these too. Approvals concern you now. An issue that you do not touch gets a run of its own:',
    ...lines,
    ...(rest > 0 ? [`- and ${rest} more, in SERVICE_WAKE_CAUSES`] : []),
  ]
}

function wakeSection({ reasons, issue, comment, approval, others }: PromptParts): string {
  const lines = ['# This heartbeat', '', `Woken by: ${reasons.join(', ') || 'unknown'}.`]
  if (issue) lines.push(`Issue: ${issue.identifier} "${issue.title}" (id ${issue.id}). Look at it first.`)
  else lines.push('No single issue: look at your assignments.')
  if (approval) lines.push(...approvalLines(approval))
  if (comment) {
    lines.push(`Comment by ${comment.author} (id ${comment.id}); read its whole thread before you answer:`, '')
    lines.push(...quoted(comment.body))
  }
  if (others.length > 0) lines.push('', ...otherLines(others))
  return lines.join('\n')
}
