import { redact } from '../../access/redaction/redact.ts'
import type { AgentWithFacts } from '../../organization/agent/agent.ts'
import { listLiveAgents } from '../../organization/agent/queries.ts'
import { heartbeatOf } from '../../organization/agent/runtime-config.ts'
import { findCompany } from '../../organization/company/queries.ts'
import { toCents } from '../../organization/cost/money.ts'
import { compare } from '../../platform/compare.ts'
import type { ReadContext } from '../../platform/context.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import type { Yaml } from '../../platform/source/yaml.ts'
import { slugOf } from '../../platform/url-key.ts'
import { listGoals } from '../../work/goal/queries.ts'
import { listLabels } from '../../work/label/queries.ts'
import { type KeptOf, keptReader } from '../company/kept.ts'
import { countFinishedIssues, countIssueParts, listOpenIssues, listParts, type PartRow } from '../company/queries.ts'
import { listCompanyRoutines } from '../company/routines.ts'
import { listCompanySkills } from '../company/skills.ts'
import { portableAdapter } from '../read/adapter.ts'
import type { About, CompanyPackage, EnvInput, Heartbeat, PackageAgent, PackageTeam } from '../read/package.ts'
import type { PackageWarning } from '../source/warning.ts'
import { type Cleaner, createCleaner } from './clean.ts'
import type { Instructions } from './collect-instructions.ts'
import { collectGoals, collectProjects, collectTasks, taskSlugs, withSummary } from './collect-work.ts'

/**
 * Collects the content of a package from a company, with slugs instead of ids.
 * Secrets, timestamps and paths of this machine are excluded.
 */
export function collectCompany(
  ctx: ReadContext,
  { companyId, now, instructions }: { companyId: string; now: string; instructions: Instructions },
): { content: CompanyPackage; warnings: PackageWarning[] } {
  const warnings: PackageWarning[] = []
  const company = findCompany(ctx.db, { id: companyId })!
  const rows = listLiveAgents(ctx.db, { companyId, now }).sort((a, b) => compare(a.url_key, b.url_key))
  const slugs = new Map(rows.map((row) => [row.id, row.url_key]))
  const skills = listCompanySkills(ctx.db, companyId)
  const skillSlugs = new Map(skills.map((skill) => [skill.key, skill.slug]))
  const parts = listParts(ctx.db, companyId)
  const around = { slugs, warnings, keptOf: keptReader(parts), ...createCleaner(warnings) }
  const { clean, cleanKept, cleanFields, keptOf } = around
  const goals = collectGoals(listGoals(ctx.db, { companyId }), around)
  const projects = collectProjects(ctx, companyId, { ...around, goals: goals.slugs })
  const issues = listOpenIssues(ctx.db, companyId)
  const routines = listCompanyRoutines(ctx, companyId)
  const chooseSlug = taskSlugs([...issues, ...routines], keptOf)
  const { tasks, keys } = collectTasks(ctx, issues, {
    ...around,
    projects: projects.slugs,
    goals: goals.slugs,
    chooseSlug,
  })
  warnings.push(...instructions.warnings)
  const finished = countFinishedIssues(ctx.db, companyId)
  if (finished > 0) {
    const closed = finished === 1 ? '1 closed issue is' : `${finished} closed issues are`
    warnings.push({ code: 'left_out', path: null, message: `${closed} not exported.` })
  }
  warnings.push(...notePartsOfIssues(ctx, companyId))
  if (company.logo_asset_id !== null) {
    warnings.push({
      code: 'left_out',
      path: null,
      message: 'The logo is not exported. Upload it again after an import.',
    })
  }
  const about = aboutOf(parts)
  const content: CompanyPackage = {
    company: {
      name: company.name,
      slug: about.slug ?? (slugOf(company.name) || 'company'),
      description: clean(company.description, 'COMPANY.md'),
      brandColor: company.brand_color,
      budgetMonthlyCents: toCents(company.budget_micros),
      requireBoardApprovalForNewAgents: company.require_board_approval_for_new_agents === 1,
      about: {
        ...about,
        ...(about.kept && { kept: cleanKept(about.kept, 'COMPANY.md') }),
        ...(about.sections && { sections: cleanFields(about.sections, '.service.yaml') }),
      },
    },
    goals: goals.goals,
    labels: listLabels(ctx.db, { companyId }).map(({ name, color }) => ({
      name,
      color,
    })),
    skills,
    agents: rows.map((row) => collectAgent(row, { ...around, skillSlugs }, instructions.texts.get(row.id) ?? '')),
    teams: collectTeams(parts, around),
    projects: projects.projects,
    tasks,
    routines: routines.map(({ id, projectId, goalId, parentId, assigneeAgentId, ...routine }) => ({
      ...routine,
      ...chooseSlug((projectId && projects.slugs.get(projectId)) ?? null, routine.title, id),
      ...withSummary(clean(routine.description, 'routines'), keptOf(id)),
      kept: cleanKept(keptOf(id), 'routines'),
      assignee: (assigneeAgentId && slugs.get(assigneeAgentId)) ?? null,
      goal: (goalId && goals.slugs.get(goalId)) ?? null,
      // A finished issue is not a task. The selection reports it like any other missing task.
      parent: parentId && (keys.get(parentId) ?? parentId),
    })),
    documents: documentsOf(parts),
  }
  return { content, warnings }
}

/** Names what the open issues have and a package cannot contain. */
function notePartsOfIssues(ctx: ReadContext, companyId: string): PackageWarning[] {
  const { comments, documents, attachments, ofPeople } = countIssueParts(ctx.db, companyId)
  const warn = (message: string): PackageWarning => ({ code: 'left_out', path: null, message })
  const left = Object.entries({ comments, documents, attachments }).filter(([, count]) => count > 0)
  const names = left.map(([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`)
  return [
    ...(names.length > 0 ? [warn(`Of the open issues, these are not exported: ${names.join(', ')}.`)] : []),
    ...(ofPeople > 0
      ? [
          warn(
            `Open issues of people are exported without an assignee, because a package names only agents: ${ofPeople}.`,
          ),
        ]
      : []),
  ]
}

interface AgentSurroundings extends Cleaner {
  slugs: ReadonlyMap<string, string>
  skillSlugs: ReadonlyMap<string, string>
  keptOf: KeptOf
  warnings: PackageWarning[]
}

function collectAgent(row: AgentWithFacts, around: AgentSurroundings, instructions: string): PackageAgent {
  const { slugs, skillSlugs, clean, cleanFields, cleanKept, warnings } = around
  const path = `agents/${row.url_key}/AGENTS.md`
  const stored = around.keptOf(row.id)
  const { placement } = JSON.parse(row.runtime_config) as { placement?: string }
  if (placement !== undefined) {
    const message = `The placement ${placement} belongs to this instance and is not exported.`
    warnings.push({ code: 'left_out', path, message })
  }
  const { inputs: _, ...metadata } = row.metadata === null ? {} : (JSON.parse(row.metadata) as Yaml)
  const config = JSON.parse(row.adapter_config) as Record<string, unknown>
  const adapter = portableAdapter(row.adapter_type, config, path)
  warnings.push(...adapter.warnings)
  return {
    slug: row.url_key,
    name: row.name,
    title: row.title,
    description: clean(row.capabilities, path),
    role: row.role,
    icon: row.icon as PackageAgent['icon'],
    reportsTo: (row.reports_to && slugs.get(row.reports_to)) ?? null,
    skills: (JSON.parse(row.desired_skills) as string[]).flatMap((key) => skillSlugs.get(key) ?? []),
    otherSkills: (stored.otherSkills ?? []).filter((slug) => ![...skillSlugs.values()].includes(slug)),
    permissions: JSON.parse(row.permissions),
    metadata: cleanFields(metadata, path),
    instructions: clean(instructions, path) ?? '',
    adapterType: adapter.adapterType,
    adapterConfig: adapter.adapterConfig,
    heartbeat: heartbeatToShare(row),
    budgetMonthlyCents: toCents(row.budget_micros),
    inputs: inputsOf(row, config),
    kept: cleanKept(stored, path),
  }
}

/** Returns the heartbeat settings that differ from the defaults. */
function heartbeatToShare(row: AgentWithFacts): Heartbeat {
  const own = heartbeatOf(row)
  const usual = heartbeatOf({ runtime_config: '{}' })
  const { intervalSec, wakeOnDemand, skipIfIdle, maxConcurrentRuns } = own
  return {
    ...(intervalSec !== usual.intervalSec && { intervalSec }),
    ...(wakeOnDemand !== usual.wakeOnDemand && { wakeOnDemand }),
    ...(skipIfIdle !== usual.skipIfIdle && { skipIfIdle }),
    ...(maxConcurrentRuns !== usual.maxConcurrentRuns && { maxConcurrentRuns }),
  }
}

/**
 * Returns the names of the environment variables that an agent needs: the
 * declared ones, and the others in its environment.
 */
function inputsOf(row: AgentWithFacts, config: Record<string, unknown>): EnvInput[] {
  const metadata = row.metadata === null ? {} : (redact(JSON.parse(row.metadata)) as { inputs?: unknown })
  const declared = (Array.isArray(metadata.inputs) ? metadata.inputs : []).filter(isInput)
  const names = Object.keys((config.env as Record<string, unknown> | undefined) ?? {})
  const others = names.filter((name) => !declared.some((input) => input.name === name))
  const all = [
    ...declared,
    ...others.map((name): EnvInput => ({ name, kind: 'secret', requirement: 'required', description: null })),
  ]
  return all.sort((a, b) => compare(a.name, b.name))
}

/** Any client may write an agent's metadata, so inputs in it are validated. */
const isInput = (value: Partial<EnvInput> | null): value is EnvInput =>
  typeof value?.name === 'string' &&
  /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(value.name) &&
  (value.kind === 'secret' || value.kind === 'plain') &&
  (value.requirement === 'required' || value.requirement === 'optional') &&
  (value.description === null || typeof value.description === 'string') &&
  (value.default === undefined || (typeof value.default === 'string' && value.kind === 'plain'))

const jsonOf = (part: PartRow) => JSON.parse(Buffer.from(part.content).toString())

function aboutOf(parts: readonly PartRow[]): About {
  const part = parts.find((part) => part.kind === 'about')
  return part ? jsonOf(part) : { body: '', version: null, license: null, homepage: null, authors: [], tags: [] }
}

/** Teams store their members by id, so that a rename does not lose them. */
const collectTeams = (
  parts: readonly PartRow[],
  { slugs, cleanKept }: { slugs: ReadonlyMap<string, string> } & Cleaner,
): PackageTeam[] =>
  parts
    .filter((part) => part.kind === 'team')
    .map((part) => {
      const team = jsonOf(part) as Omit<PackageTeam, 'slug'>
      return {
        ...team,
        slug: part.path.split('/')[1]!,
        manager: (team.manager && slugs.get(team.manager)) ?? null,
        agents: team.agents.flatMap((id) => slugs.get(id) ?? []),
        kept: cleanKept(team.kept, part.path),
      }
    })

const documentsOf = (parts: readonly PartRow[]): SourceFiles =>
  new Map(parts.filter((part) => part.kind === 'document').map((part) => [part.path, part.content]))
