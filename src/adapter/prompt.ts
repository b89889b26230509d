import { HEARTBEAT_SKILL } from './heartbeat-skill.ts'

/** What a run's prompt is made of. Texts that others wrote stand in it as they are, and are marked as theirs. */
export interface PromptParts {
  agent: { id: string; name: string; role: string; title: string | null }
  company: { id: string; name: string }
  runId: string
  /** Why it was woken: `timer`, `issue_assigned`, `mention`, ... */
  reasons: string[]
  issue: { id: string; identifier: string; title: string } | null
  comment: { id: string; author: string; body: string } | null
  approval: {
    id: string
    type: string
    status: string
    /** What was asked and what was decided, of a `request_board_approval`. */
    title: string | null
    chosenOption: string | null
    decisionNote: string | null
  } | null
  /** The instructions of an adapter that takes them in the prompt; null where they are a file of their own. */
  instructions: { path: string; text: string } | null
  /** What it can read up on in SERVICE_SKILLS_DIR; `path` is the folder of each. */
  skills: { name: string; description: string | null; path: string }[]
  /** `adapterConfig.promptTemplate`: the opening, instead of the built-in one. */
  promptTemplate: string | null
}

const OPENING =
  'You are {{agent.name}} ({{agent.title}}), an agent of the company {{company.name}}. This is one heartbeat: a short run, unattended. Do the work that is yours, say what you did, and end.'

/** The whole prompt of one run. */
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

/** Replaces each known placeholder, in one pass: what stands in a name or a title is never replaced again. */
const fillIn = (template: string, parts: PromptParts): string =>
  template.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(PLACEHOLDERS, name) ? PLACEHOLDERS[name]!(parts) : whole,
  )

/** Names and descriptions only: a skill is read when it is needed. */
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

/** How much of a skill's description stands in every prompt, in characters. */
const SHOWN_DESCRIPTION = 1_000

function approvalLines({ id, type, status, title, chosenOption, decisionNote }: NonNullable<PromptParts['approval']>) {
  const about = title === null ? type : `${type} "${title}"`
  const decision = chosenOption === null ? status : `${status}: ${chosenOption}`
  return [
    `Approval: ${about}, ${decision} (id ${id}). Follow it up first.`,
    ...(decisionNote === null ? [] : ['The board says:', '', ...quoted(decisionNote)]),
  ]
}

const quoted = (text: string) => text.split('\n').map((line) => `> ${line}`)

function wakeSection({ reasons, issue, comment, approval }: PromptParts): string {
  const lines = ['# This heartbeat', '', `Woken by: ${reasons.join(', ') || 'unknown'}.`]
  if (issue) lines.push(`Issue: ${issue.identifier} "${issue.title}" (id ${issue.id}). Look at it first.`)
  else lines.push('No single issue: look at your assignments.')
  if (approval) lines.push(...approvalLines(approval))
  if (comment) {
    lines.push(`Comment by ${comment.author} (id ${comment.id}); read its whole thread before you answer:`, '')
    lines.push(...quoted(comment.body))
  }
  return lines.join('\n')
}
