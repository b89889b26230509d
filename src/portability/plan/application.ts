import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { Include } from '../read/include.ts'
import type { CompanyPackage } from '../read/package.ts'
import type { Step, Target } from './plan.ts'
import type { References } from './references.ts'

/** A plan that is being applied. */
export interface Application {
  content: CompanyPackage
  include: Include
  target: Target
  steps: readonly Step[]
  /** The future id of each agent and the file of its instructions, which is written beforehand, by slug. */
  agents: ReadonlyMap<string, { id: string; instructionsFile: string | null }>
  /** The company whose members a new company receives; null for none. */
  fromCompanyId: string | null
}

/** The company that the entities of a package are created in. */
export interface Destination {
  ctx: Context
  /** The actor of the changes. It may differ from the caller; see `resolveImportTarget`. */
  actor: Caller
  companyId: string
  content: CompanyPackage
  references: References
}
