import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { LongChange } from '../../platform/database/long-write.ts'
import { uuid } from '../../platform/uuid.ts'
import { createLabel } from '../../work/label/change.ts'
import type { PackageAgent } from '../read/package.ts'
import type { Application } from './application.ts'
import { finishImport, resolveImportTarget } from './apply-company.ts'
import { createAgents, createSkills, createTeams } from './apply-people.ts'
import { createGoals, createIssues, createProjects, createRoutines } from './apply-work.ts'
import { createReferences } from './references.ts'

/**
 * Applies a plan inside a long write, and sets the ids of its steps. It wakes
 * no agent and starts no timer.
 *
 * @returns the id of the company
 */
export function* applySteps(ctx: Context, caller: Caller, application: Application): LongChange<string> {
  const { content, steps } = application
  const { companyId, actor } = resolveImportTarget(ctx, caller, application)
  const references = createReferences(ctx, companyId, steps)
  const into = { ctx, actor, companyId, content, references }
  yield* references.createEach(
    'label',
    content.labels,
    (label) => label.name.toLowerCase(),
    (label) => createLabel(ctx, actor, companyId, label).id,
  )
  yield* createSkills(into)
  yield* createAgents(into, application.agents)
  yield* createTeams(into)
  yield* createGoals(into)
  yield* createProjects(into)
  yield* createIssues(into)
  yield* createRoutines(into)
  finishImport(ctx, caller, actor, companyId, application)
  return companyId
}

/** Chooses the ids of agents, so that their instructions can be written before their rows. */
export const chooseIds = (agents: readonly PackageAgent[]): Map<string, string> =>
  new Map(agents.map((agent) => [agent.slug, uuid()]))
