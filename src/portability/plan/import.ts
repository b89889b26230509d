import { hash } from 'node:crypto'
import { publishEvent } from '../../access/activity/live-events.ts'
import { requireFounder } from '../../access/board/founder.ts'
import { recheckCompanyAccess } from '../../access/board/fresh-role.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { belongsTo } from '../../access/caller/caller.ts'
import { requireCompanyAccess } from '../../access/caller/visibility.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { findCompany } from '../../organization/company/queries.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, notFound, unknownReference, unprocessable } from '../../platform/errors.ts'
import { instructionsFileOf, writeInstructions } from '../company/instructions.ts'
import { type Include, includeOf } from '../read/include.ts'
import type { CompanyPackage } from '../read/package.ts'
import { READ_LIMITS, readPackageJob } from '../read/read-package.ts'
import { type FetchedPackage, fetchPackage, internet } from '../source/fetch.ts'
import type { PackageWarning } from '../source/warning.ts'
import { applySteps, chooseIds } from './apply.ts'
import type { ACTIONS, ImportBody, ImportPlan } from './import-body.ts'
import type { Step, Target } from './plan.ts'
import { hashOfCompany, planImport } from './plan-job.ts'
import { fetchSkillTexts } from './skill-texts.ts'

/** A package that was fetched and read, and where it goes. */
interface Import {
  fetched: Pick<FetchedPackage, 'description' | 'commit'>
  filesDigest: string
  content: CompanyPackage
  warnings: PackageWarning[]
  include: Include
  target: Target
  strategy: 'rename' | 'skip'
}

/** Returns the planned changes of an import, one entry per entity. Does not modify data. */
export async function previewImport(
  ctx: Context,
  caller: Caller,
  companyId: string | null,
  body: ImportBody,
): Promise<ImportPlan> {
  const wanted = await readImport(ctx, caller, companyId, body)
  return toPlan(wanted, await planImport(ctx, caller, wanted))
}

/**
 * Does what the preview says, in one transaction: all of it or nothing. It runs
 * in slices, and it plans again if the company changes before it begins.
 */
export async function applyImport(
  ctx: Context,
  caller: Caller,
  companyId: string | null,
  body: ImportBody,
): Promise<ImportPlan> {
  const progress = tellProgress(ctx, companyId)
  progress('fetching')
  const wanted = await readImport(ctx, caller, companyId, body)
  const { content } = wanted
  let plan = await planImport(ctx, caller, wanted)
  const { planHash } = toPlan(wanted, plan)
  if (body.planHash !== undefined && body.planHash !== planHash) throw changedSince()

  const ids = chooseIds(content.agents)
  const hired = new Set(
    plan.steps.filter((step) => step.kind === 'agent' && step.action !== 'skip').map((step) => step.slug),
  )
  const texts = new Map(
    content.agents
      .filter((agent) => hired.has(agent.slug) && agent.instructions !== '')
      .filter((agent) => adapterOf(agent.adapterType)?.instructionsKey)
      .map((agent) => [ids.get(agent.slug)!, agent.instructions]),
  )
  const agents = new Map(
    [...ids].map(([slug, id]) => [
      slug,
      { id, instructionsFile: texts.has(id) ? instructionsFileOf(ctx.config, id) : null },
    ]),
  )
  progress('writing', { files: texts.size })
  const instructions = await writeInstructions(ctx.config, texts)
  try {
    for (let attempt = 1; ; attempt++) {
      const { steps, warnings, companyHash } = plan
      const done = await ctx.writeLong(function* (ctx) {
        recheckAccess(ctx, caller, companyId, wanted.target)
        if (hashOfCompany(ctx, wanted.target) !== companyHash) return undefined
        const into = yield* applySteps(ctx, caller, { ...wanted, steps, agents, fromCompanyId: companyId })
        for (const step of steps) if (step.kind === 'company') step.id = into
        return {
          ...toPlan({ ...wanted, target: { ...wanted.target, companyId: into } }, { steps, warnings }),
          planHash,
        }
      })
      if (done) {
        await instructions.keep()
        progress('done', { entities: done.entities.length })
        return done
      }
      if (attempt === MAX_ATTEMPTS) throw changedSince()
      plan = await planImport(ctx, caller, wanted)
      if (toPlan(wanted, plan).planHash !== planHash) throw changedSince()
    }
  } catch (error) {
    await instructions.remove()
    progress('failed')
    throw error
  }
}

/** The maximum number of plans of one import. A concurrent change of the company requires a new plan. */
const MAX_ATTEMPTS = 20

const changedSince = () =>
  new AppError('conflict', 'The package or the company has changed since the preview. Request a new preview.')

/** Publishes the progress of an import as live events. The imported entities become visible only at the commit. */
const tellProgress =
  (ctx: Context, companyId: string | null) =>
  (phase: 'fetching' | 'writing' | 'done' | 'failed', more: { files?: number; entities?: number } = {}) => {
    if (companyId !== null) publishEvent(ctx, companyId, 'import.progress', () => ({ phase, ...more }))
  }

async function readImport(ctx: Context, caller: Caller, companyId: string | null, body: ImportBody): Promise<Import> {
  if (body.collisionStrategy === 'replace') {
    throw unprocessable('collisionStrategy', 'replace is not supported: an import never modifies existing data')
  }
  const mode = targetOf(ctx, caller, companyId, body)
  const network = internet(ctx.config.environment.PATH ?? '')
  const fetched = await fetchPackage(body.source, network)
  const { content, warnings, filesDigest } = await ctx.reader.runApart(
    readPackageJob,
    { files: fetched.files, folder: fetched.folder },
    READ_LIMITS,
  )
  const include = includeOf(body.include, { issues: true })
  const included = reduce(content, include)
  const references = await fetchSkillTexts(included.skills, body.fetchSkills === false ? null : network.fetch)
  return {
    fetched: { description: fetched.description, commit: fetched.commit },
    filesDigest,
    content: { ...included, skills: references.skills },
    warnings: [...fetched.warnings, ...warnings, ...references.warnings],
    include,
    target: mode.companyId === null ? { ...mode, companyName: nameOf(mode.companyName, content) } : mode,
    strategy: body.collisionStrategy ?? 'rename',
  }
}

/** Returns the target of an import. An agent may import only into its own company. */
function targetOf(ctx: Context, caller: Caller, companyId: string | null, { target }: ImportBody): Target {
  if (target.mode === 'new_company') {
    requireFounder(ctx, caller)
    return { mode: target.mode, companyId: null, companyName: target.newCompanyName ?? '' }
  }
  const id = target.companyId ?? companyId
  if (id === null) throw unprocessable('target.companyId', 'is required: the company to import into')
  if (!belongsTo(caller, id)) throw new AppError('wrong_company', 'You are not a member of the target company.')
  if (companyId !== null && id !== companyId) {
    throw unprocessable('target.companyId', 'must be the company of the path')
  }
  const company = findCompany(ctx.db, { id })
  if (!company) throw companyId === null ? unknownReference('target.companyId', 'company') : notFound('company', id)
  requireCompanyAccess(ctx, caller, id)
  return { mode: target.mode, companyId: id, companyName: company.name }
}

/** Repeats the checks of `targetOf` inside the write: the caller may have lost the role while the package was fetched. */
function recheckAccess(ctx: Context, caller: Caller, companyId: string | null, target: Target): void {
  if (companyId !== null) recheckCompanyAccess(ctx, caller, companyId)
  if (target.companyId === null) requireFounder(ctx, caller)
  else if (target.companyId !== companyId) recheckCompanyAccess(ctx, caller, target.companyId)
}

function nameOf(wanted: string, { company }: CompanyPackage): string {
  const name = wanted || company.name
  if (!name) throw unprocessable('target.newCompanyName', 'is required, because the package does not name a company')
  return name
}

/** The package as far as it is included. */
function reduce(content: CompanyPackage, include: Include): CompanyPackage {
  return {
    ...content,
    agents: include.agents ? content.agents : [],
    teams: include.agents ? content.teams : [],
    skills: include.skills ? content.skills : [],
    goals: include.company ? content.goals : [],
    projects: include.projects ? content.projects : [],
    tasks: include.issues ? content.tasks : [],
    routines: include.issues ? content.routines : [],
  }
}

function toPlan(
  { fetched, filesDigest, content, target, warnings, strategy }: Import,
  plan: { steps: readonly Step[]; warnings: readonly PackageWarning[] },
): ImportPlan {
  const entities = plan.steps.map(({ newSlug: _, ...entity }) => entity)
  const { name, description, about } = content.company
  return {
    package: {
      name,
      description,
      version: about.version,
      license: about.license,
      source: fetched.description,
      commit: fetched.commit,
    },
    target,
    collisionStrategy: strategy,
    entities,
    counts: {
      ...countActions(entities),
      byKind: Object.fromEntries(
        [...Map.groupBy(entities, (entity) => entity.kind)].map(([kind, own]) => [kind, countActions(own)]),
      ),
    },
    inputs: content.agents.flatMap((agent) => agent.inputs.map((input) => ({ agent: agent.slug, ...input }))),
    warnings: [...warnings, ...plan.warnings],
    planHash: hash('sha256', JSON.stringify([filesDigest, target, strategy, entities]), 'base64url'),
  }
}

const countActions = (entities: readonly { action: (typeof ACTIONS)[number] }[]) => {
  const count = (action: (typeof ACTIONS)[number]) => entities.filter((entity) => entity.action === action).length
  return { create: count('create'), rename: count('rename'), skip: count('skip') }
}
