import { v7 as uuid } from 'uuid'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { createLabel } from '../../work/label/change.ts'
import type { PackageAgent } from '../read/package.ts'
import type { Application } from './application.ts'
import { finishImport, resolveImportTarget } from './apply-company.ts'
import { createAgents, createSkills, createTeams } from './apply-people.ts'
import { createGoals, createIssues, createProjects, createRoutines } from './apply-work.ts'
import { createReferences } from './references.ts'

/**
 * Applies a plan inside a write, and sets the ids of its steps. It wakes no
 * agent and starts no timer.
 *
 * @returns the id of the company
 */
export function applySteps(ctx: Context, caller: Caller, application: Application): string {
  const { content, steps } = application
  const { companyId, actor } = resolveImportTarget(ctx, caller, application)
  const references = createReferences(ctx, companyId, steps)
  const into = { ctx, actor, companyId, content, references }
  references.createEach(
    'label',
    content.labels,
    (label) => label.name.toLowerCase(),
    (label) => createLabel(ctx, actor, companyId, label).id,
  )
  createSkills(into)
  createAgents(into, application.agents)
  createTeams(into)
  createGoals(into)
  createProjects(into)
  createIssues(into)
  createRoutines(into)
  finishImport(ctx, caller, actor, companyId, application)
  return companyId
}

/** Chooses the ids of agents, so that their instructions can be written before their rows. */
export const chooseIds = (agents: readonly PackageAgent[]): Map<string, string> =>
  new Map(agents.map((agent) => [agent.slug, uuid()]))
