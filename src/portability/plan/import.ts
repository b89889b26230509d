import { hash } from 'node:crypto'
import { requireFounder } from '../../access/board/founder.ts'
import { recheckCompanyAccess } from '../../access/board/fresh-role.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { belongsTo } from '../../access/caller/caller.ts'
import { requireCompanyAccess } from '../../access/caller/visibility.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { findCompany } from '../../organization/company/queries.ts'
import { compare } from '../../platform/compare.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, notFound, unknownReference, unprocessable } from '../../platform/errors.ts'
import { instructionsFileOf, removeInstructions, writeInstructions } from '../company/instructions.ts'
import { refuseSeveralCompanies } from '../read/companies.ts'
import { type Include, includeOf } from '../read/include.ts'
import type { CompanyPackage } from '../read/package.ts'
import { READ_LIMITS, readPackageJob } from '../read/read-package.ts'
import { type FetchedPackage, fetchPackage, internet } from '../source/fetch.ts'
import type { PackageWarning } from '../source/warning.ts'
import { applySteps, chooseIds } from './apply.ts'
import type { ACTIONS, ImportBody, ImportPlan } from './import-body.ts'
import { planSteps, type Step, type Target } from './plan.ts'
import { fetchSkillTexts } from './skill-texts.ts'

/** A package that was fetched and read, and where it goes. */
interface Import {
  fetched: FetchedPackage
  content: CompanyPackage
  warnings: PackageWarning[]
  include: Include
  target: Target
  strategy: 'rename' | 'skip'
}

/**
 * Says what an import would do, thing by thing; does nothing.
 *
 * @param companyId the company that asks; null for the board on its own
 */
export async function previewImport(
  ctx: Context,
  caller: Caller,
  companyId: string | null,
  body: ImportBody,
): Promise<ImportPlan> {
  const wanted = await readImport(ctx, caller, companyId, body)
  return toPlan(wanted, planSteps(ctx, caller, wanted))
}

/**
 * Does what the preview says, in one transaction: all of it or nothing. The
 * plan is made anew inside of it, so that it is right whatever happened since.
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
  const plan = planSteps(ctx, caller, wanted)
  const planned = toPlan(wanted, plan)
  if (body.planHash !== undefined && body.planHash !== planned.planHash) throw changedSince()

  const ids = chooseIds(content.agents)
  const hired = plan.steps.filter((step) => step.kind === 'agent' && step.action !== 'skip').map((step) => step.slug)
  const texts = new Map(
    content.agents
      .filter((agent) => hired.includes(agent.slug) && agent.instructions !== '')
      .filter((agent) => adapterOf(agent.adapterType)?.instructionsKey)
      .map((agent) => [ids.get(agent.slug)!, agent.instructions]),
  )
  progress('writing', { files: texts.size })
  await writeInstructions(ctx.config, texts)
  try {
    const done = await ctx.write(() => {
      recheckAccess(ctx, caller, companyId, wanted.target)
      const { steps, warnings } = planSteps(ctx, caller, wanted)
      if (toPlan(wanted, { steps, warnings }).planHash !== planned.planHash) throw changedSince()
      const agents = new Map(
        [...ids].map(([slug, id]) => [
          slug,
          { id, instructionsFile: texts.has(id) ? instructionsFileOf(ctx.config, id) : null },
        ]),
      )
      const into = applySteps(ctx, caller, { ...wanted, steps, agents, fromCompanyId: companyId })
      for (const step of steps) if (step.kind === 'company') step.id = into
      return toPlan({ ...wanted, target: { ...wanted.target, companyId: into } }, { steps, warnings })
    })
    progress('done', { entities: done.entities.length })
    return { ...done, planHash: planned.planHash }
  } catch (error) {
    await removeInstructions(ctx.config, texts.keys())
    progress('failed')
    throw error
  }
}

const changedSince = () =>
  new AppError('conflict', 'The package or the company has changed since the preview. Look at the preview again.')

/** Tells those who watch the company where its import stands. Nothing of the import itself is seen before it is whole. */
const tellProgress =
  (ctx: Context, companyId: string | null) =>
  (phase: 'fetching' | 'writing' | 'done' | 'failed', more: Record<string, unknown> = {}) => {
    if (companyId !== null) ctx.events.publish(companyId, 'import.progress', () => ({ phase, ...more }))
  }

async function readImport(ctx: Context, caller: Caller, companyId: string | null, body: ImportBody): Promise<Import> {
  if (body.collisionStrategy === 'replace') {
    throw unprocessable('collisionStrategy', 'replace is not offered here: an import changes nothing that is there')
  }
  const mode = targetOf(ctx, caller, companyId, body)
  const network = internet(ctx.config.environment.PATH ?? '')
  const fetched = await fetchPackage(body.source, network)
  refuseSeveralCompanies(fetched)
  const { content, warnings } = await ctx.reader.runApart(readPackageJob, fetched.files, READ_LIMITS)
  const include = includeOf(body.include, { issues: true })
  const included = reduce(content, include)
  const references = await fetchSkillTexts(included.skills, body.fetchSkills === false ? null : network.fetch)
  return {
    fetched,
    content: { ...included, skills: references.skills },
    warnings: [...fetched.warnings, ...warnings, ...references.warnings],
    include,
    target: mode.companyId === null ? { ...mode, companyName: nameOf(mode.companyName, content) } : mode,
    strategy: body.collisionStrategy ?? 'rename',
  }
}

/** Where an import goes. An agent's own company is the only one that it may add to. */
function targetOf(ctx: Context, caller: Caller, companyId: string | null, { target }: ImportBody): Target {
  if (target.mode === 'new_company') {
    requireFounder(ctx, caller)
    return { mode: target.mode, companyId: null, companyName: target.newCompanyName ?? '' }
  }
  const id = target.companyId ?? companyId
  if (id === null) throw unprocessable('target.companyId', 'say which company to import into')
  if (!belongsTo(caller, id)) throw new AppError('wrong_company', 'You do not belong to the company of the target.')
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
  if (!name) throw unprocessable('target.newCompanyName', 'is needed: the package names no company')
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
  { fetched, content, target, warnings, strategy }: Import,
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
    planHash: hash('sha256', JSON.stringify([digestOf(fetched), target, strategy, entities]), 'base64url'),
  }
}

const countActions = (entities: readonly { action: (typeof ACTIONS)[number] }[]) => {
  const count = (action: (typeof ACTIONS)[number]) => entities.filter((entity) => entity.action === action).length
  return { create: count('create'), rename: count('rename'), skip: count('skip') }
}

const digestOf = ({ files }: FetchedPackage): string =>
  hash(
    'sha256',
    [...files]
      .sort(([a], [b]) => compare(a, b))
      .map(([path, bytes]) => `${path}\0${hash('sha256', bytes)}`)
      .join('\n'),
  )
