import { compare } from '../../platform/compare.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { writeFrontmatter, writeYaml } from '../../platform/source/yaml.ts'
import { DEFAULT_ADAPTER } from '../read/adapter.ts'
import {
  type CompanyPackage,
  type PackageAgent,
  type PackageGoal,
  type PackageWorkspace,
  SCHEMA,
  SIDECAR_SCHEMA,
} from '../read/package.ts'
import { taskPath } from '../read/package-layout.ts'
import { slugOfGoal } from '../read/read-work.ts'

/** A file of a package, with the reason for including it. */
export interface RenderedFile {
  kind: 'company' | 'agent' | 'team' | 'project' | 'issue' | 'routine' | 'skill' | 'document' | 'sidecar'
  bytes: Uint8Array
  reason: string
}

const SIDECAR = '.service.yaml'

/** Writes a package deterministically: equal content produces identical bytes in the same order. */
export function renderPackage(content: CompanyPackage): Map<string, RenderedFile> {
  const files = new Map<string, RenderedFile>()
  const add = (path: string, kind: RenderedFile['kind'], reason: string, text: string | Uint8Array) =>
    void files.set(path, { kind, reason, bytes: typeof text === 'string' ? Buffer.from(text) : text })

  if (content.company.name !== null) add('COMPANY.md', 'company', 'The company and its goals.', companyFile(content))
  for (const agent of content.agents) {
    add(`agents/${agent.slug}/AGENTS.md`, 'agent', `The agent ${agent.name} and its instructions.`, agentFile(agent))
  }
  for (const team of content.teams) {
    const { slug, name, description, tags, body, kept: stored } = team
    const manager = team.manager === null ? null : `../../agents/${team.manager}/AGENTS.md`
    const includes = [
      ...team.agents.map((agent) => `../../agents/${agent}/AGENTS.md`),
      ...team.skills.map((skill) => `../../skills/${skill}/SKILL.md`),
      ...team.others,
    ]
    const text = writeFrontmatter({ name, description, slug, manager, includes, tags, ...stored.matter }, body)
    add(`teams/${slug}/TEAM.md`, 'team', `The team ${name}.`, text)
  }
  for (const { slug, name, lead, kept: stored, ...texts } of content.projects) {
    const { description, body } = splitText(texts)
    const text = writeFrontmatter({ name, description, slug, owner: lead, ...stored.matter }, body)
    add(`projects/${slug}/PROJECT.md`, 'project', `The project ${name}.`, text)
  }
  for (const task of content.tasks) {
    const { title, assignee, project, kept: stored } = task
    const { description, body } = splitText(task)
    const text = writeFrontmatter({ name: title, description, assignee, project, ...stored.matter }, body)
    add(taskPath(task), 'issue', 'An open issue, as a starter task.', text)
  }
  for (const routine of content.routines) {
    const { title, assignee, project, cron, timeZone, intervalSec, overlap, kept: stored } = routine
    const { description, body } = splitText(routine)
    const schedule = { cron, timezone: timeZone, intervalSec, overlap }
    const matter = { name: title, description, assignee, project, recurring: true, schedule, ...stored.matter }
    const text = writeFrontmatter(matter, body)
    add(taskPath(routine), 'routine', 'A routine, as a recurring task.', text)
  }
  for (const skill of content.skills) {
    for (const [path, bytes] of skill.files) {
      add(`skills/${skill.slug}/${path}`, 'skill', `A file of the skill ${skill.name}.`, bytes)
    }
  }
  for (const [path, bytes] of content.documents) add(path, 'document', 'A document of the imported package.', bytes)
  const sidecar = sidecarFile(content)
  if (sidecar)
    add(
      SIDECAR,
      'sidecar',
      'Settings that the portable format does not define: adapters, budgets, priorities.',
      sidecar,
    )
  return new Map([...files].sort(([a], [b]) => compare(a, b)))
}

export const filesOf = (rendered: ReadonlyMap<string, RenderedFile>): SourceFiles =>
  new Map([...rendered].map(([path, { bytes }]) => [path, bytes]))

/** Splits a description into that of the frontmatter and the body. */
function splitText({ summary, description }: { summary: string | null; description: string | null }) {
  if (summary === null) return { description: null, body: description ?? '' }
  return { description: summary, body: (description ?? '').slice(summary.length).trimStart() }
}

function companyFile({ company, goals }: CompanyPackage): string {
  const { name, description, slug, about } = company
  const { version, license, homepage, authors, tags, body } = about
  const titles = goals.filter((goal) => goal.level === 'company' && goal.parent === null).map((goal) => goal.title)
  const matter = { name, description, slug, schema: SCHEMA, version, license, homepage, authors, tags, goals: titles }
  return writeFrontmatter({ ...matter, ...about.kept?.matter }, body)
}

function agentFile(agent: PackageAgent): string {
  const { name, title, description, reportsTo, otherSkills, metadata, kept: stored, instructions } = agent
  const skills = [...agent.skills, ...otherSkills]
  // Written even if it is null; otherwise a team could assign its manager to the agent.
  const fields = { name, title, description, reportsTo, skills, metadata, ...stored.matter }
  const matter = writeFrontmatter(fields, instructions)
  return reportsTo === null ? matter.replace(/^---\n(name: .*\n)/, '---\n$1reportsTo: null\n') : matter
}

function sidecarFile(content: CompanyPackage): string | undefined {
  const { brandColor, budgetMonthlyCents, requireBoardApprovalForNewAgents, about } = content.company
  const yaml = writeYaml({
    company: {
      brandColor,
      budgetMonthlyCents: budgetMonthlyCents || null,
      requireBoardApprovalForNewAgents: requireBoardApprovalForNewAgents || null,
      ...(content.company.name !== null && about.kept?.sidecar),
    },
    goals: goalsSection(content.goals),
    labels: Object.fromEntries(content.labels.map(({ name, color }) => [name, color])),
    agents: Object.fromEntries(content.agents.map((agent) => [agent.slug, agentSection(agent)])),
    projects: Object.fromEntries(
      content.projects.map(({ slug, status, targetDate, goals, workspaces, kept: stored }) => [
        slug,
        {
          status,
          targetDate,
          goals,
          workspaces: workspaces.map(workspaceEntry),
          ...stored.sidecar,
        },
      ]),
    ),
    // All of them, in the order of the issues' numbers.
    tasks: Object.fromEntries(
      content.tasks.map(({ key, status, priority, labels, parent, goal, billingCode, blockedBy, kept: stored }) => [
        key,
        { status, priority, labels, parent, goal, billingCode, blockedBy, ...stored.sidecar },
      ]),
    ),
    routines: Object.fromEntries(
      content.routines.map(({ slug, project, priority, labels, goal, parent, kept: stored }) => [
        project === null ? slug : `${project}/${slug}`,
        { priority, labels, goal, parent, ...stored.sidecar },
      ]),
    ),
    ...(content.company.name !== null && about.sections),
  })
  return yaml === '{}\n' ? undefined : `schema: ${SIDECAR_SCHEMA}\n${yaml}`
}

/**
 * Returns the goals section of the sidecar. Omitted if COMPANY.md contains the
 * same information: only titles of active company goals, from which a reader
 * derives the same slugs.
 */
function goalsSection(goals: readonly PackageGoal[]): Record<string, unknown> {
  const isPlain = (goal: PackageGoal) =>
    goal.level === 'company' &&
    goal.status === 'active' &&
    [goal.parent, goal.owner, goal.description].every((value) => value === null) &&
    Object.keys(goal.kept.sidecar).length === 0
  const titles = new Set(goals.map((goal) => goal.title))
  const isRead = (goal: PackageGoal, i: number) => goal.slug === slugOfGoal(goal.title, goals.slice(0, i))
  if (titles.size === goals.length && goals.every(isPlain) && goals.every(isRead)) return {}
  return Object.fromEntries(goals.map(({ slug, kept: stored, ...goal }) => [slug, { ...goal, ...stored.sidecar }]))
}

const workspaceEntry = ({ name, repoUrl, isolation, ...more }: PackageWorkspace) => ({
  name,
  repoUrl,
  ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null)),
  ...(isolation !== 'none' && { isolation }),
})

function agentSection(agent: PackageAgent) {
  const {
    role,
    icon,
    adapterType,
    adapterConfig,
    heartbeat,
    permissions,
    budgetMonthlyCents,
    inputs,
    kept: stored,
  } = agent
  const isDefault = adapterType === DEFAULT_ADAPTER && Object.keys(adapterConfig).length === 0
  return {
    role,
    icon,
    adapter: isDefault ? null : { type: adapterType, config: adapterConfig },
    runtime: { heartbeat },
    permissions,
    budgetMonthlyCents: budgetMonthlyCents || null,
    inputs: { env: Object.fromEntries(inputs.map(({ name, ...input }) => [name, input])) },
    ...stored.sidecar,
  }
}
