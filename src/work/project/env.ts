import { open, placeOf, seal } from '../../access/secret/seal.ts'
import type { Context } from '../../platform/context.ts'
import type { ProjectRow } from './project.ts'

type Env = Record<string, unknown>

/** A project's environment as its row keeps it: every value sealed, references to stored secrets as they are. */
export const sealEnv = (ctx: Context, project: Pick<ProjectRow, 'id' | 'company_id'>, env: Env): string =>
  JSON.stringify(seal(ctx.vault, placeOf('project', project), { env }).env)

/** A project's environment in plain; what the key does not open is still sealed. */
export const openEnv = (ctx: Context, project: Pick<ProjectRow, 'id' | 'company_id' | 'env'>): Env =>
  open(ctx.vault, placeOf('project', project), { env: JSON.parse(project.env) }).env as Env
