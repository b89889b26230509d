import { findAgentByUrlKey } from '../../organization/agent/queries.ts'
import type { Context } from '../../platform/context.ts'
import type { LongChange } from '../../platform/database/long-write.ts'
import { findLabelByName } from '../../work/label/queries.ts'
import { findProjectByUrlKey } from '../../work/project/queries.ts'
import { skillKeyOf } from '../company/skills.ts'
import type { Kind } from './import-body.ts'
import type { Step } from './plan.ts'

type Slug = string | null

/**
 * Resolves the slugs of a package to ids while a plan is applied: first to
 * entities of the package, then, where the package may refer to existing
 * entities, to those of the company. An unknown slug resolves to null.
 */
export function createReferences(ctx: Context, companyId: string, steps: readonly Step[]) {
  const byKind = new Map(
    [...Map.groupBy(steps, (step) => step.kind)].map(([kind, own]) => [
      kind,
      new Map(own.map((step) => [step.slug, step])),
    ]),
  )
  const stepOf = (kind: Kind, slug: string) => byKind.get(kind)?.get(slug)
  const idOf = (kind: Kind, slug: Slug) => (slug === null ? null : (stepOf(kind, slug)?.id ?? null))
  const agentId = (slug: Slug) =>
    idOf('agent', slug) ?? (slug && (findAgentByUrlKey(ctx.db, { companyId, urlKey: slug })?.id ?? null))
  return {
    agentId,
    /** Returns the id of the agent to assign; null if the agent waits for approval. */
    assigneeId: (slug: Slug) =>
      slug !== null && stepOf('agent', slug)?.status === 'pending_approval' ? null : agentId(slug),
    projectId: (slug: Slug) =>
      idOf('project', slug) ?? (slug && (findProjectByUrlKey(ctx.db, { companyId, urlKey: slug })?.id ?? null)),
    goalId: (slug: Slug) => idOf('goal', slug),
    issueId: (key: Slug) => idOf('issue', key),
    labelIds: (names: readonly string[]) =>
      names.flatMap((name) => findLabelByName(ctx.db, { companyId, name })?.id ?? []),
    skillKeys: (slugs: readonly string[]) =>
      slugs.flatMap((slug) => skillKeyOf(ctx, companyId, { id: idOf('skill', slug), slug }) ?? []),
    /** Creates the entities of one kind that the plan does not skip, and sets the ids of their steps. */
    *createEach<T>(
      kind: Kind,
      entities: readonly T[],
      slugOf: (entity: T) => string,
      create: (entity: T, step: Step) => string | null,
    ): LongChange<void> {
      for (const entity of entities) {
        const step = stepOf(kind, slugOf(entity))
        if (step && step.action !== 'skip') step.id = create(entity, step)
        yield
      }
    },
    /** Returns whether the import creates this entity. */
    isCreated: (kind: Kind, slug: string) => (stepOf(kind, slug)?.action ?? 'skip') !== 'skip',
  }
}

export type References = ReturnType<typeof createReferences>
