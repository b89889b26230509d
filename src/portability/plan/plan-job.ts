import { lastHash } from '../../access/activity/queries.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context, ReadContext } from '../../platform/context.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import type { CompanyPackage } from '../read/package.ts'
import { type PlanInput, planSteps, type Steps, type Target } from './plan.ts'

/** A plan, and the state of the company that it is based on. */
export interface Plan extends Steps {
  companyHash: string | undefined
}

/** Plans an import in a thread: names can conflict with 100,000 issues of the company, and with 2,000 others of the package. */
export const planImportJob: ReadJob<{ caller: Caller; wanted: PlanInput }, Plan> = {
  name: 'plan-import',
  thread: 'packages',
  run: (db, { caller, wanted }) => ({
    ...planSteps({ db }, caller, wanted),
    companyHash: hashOfCompany({ db }, wanted.target),
  }),
}

export async function planImport(
  ctx: Context,
  caller: Caller,
  { content, include, target, strategy }: PlanInput,
): Promise<Plan> {
  const wanted = { content: outlineOf(content), include, target, strategy }
  return ctx.reader.runApart(planImportJob, { caller, wanted }, { timeLimitMs: 20_000 })
}

/** Returns a hash that differs after every change of a company. Each change has an activity, and each activity a hash. */
export const hashOfCompany = ({ db }: ReadContext, { companyId }: Target) =>
  companyId === null ? undefined : lastHash(db, { companyId })?.hash

/** Removes the content that a plan does not use. Otherwise up to 20 MB of files would be copied to the thread. */
const outlineOf = (content: CompanyPackage): CompanyPackage => ({
  ...content,
  skills: content.skills.map((skill) => ({ ...skill, files: new Map() })),
  agents: content.agents.map((agent) => ({ ...agent, instructions: '' })),
  documents: new Map([...content.documents.keys()].map((path) => [path, new Uint8Array()])),
})
