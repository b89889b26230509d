import { open, placeOf, seal } from '../../access/secret/seal.ts'
import type { Context } from '../../platform/context.ts'
import type { ProjectRow } from './project.ts'

type Env = Record<string, unknown>

/** Returns a project's environment as its row stores it: every value encrypted, except references to stored secrets. */
export const sealEnv = (ctx: Context, project: Pick<ProjectRow, 'id' | 'company_id'>, env: Env): string =>
  JSON.stringify(seal(ctx.vault, placeOf('project', project), { env }).env)

/** Returns a project's environment decrypted. Values that the key cannot decrypt remain encrypted. */
export const openEnv = (ctx: Context, project: Pick<ProjectRow, 'id' | 'company_id' | 'env'>): Env =>
  open(ctx.vault, placeOf('project', project), { env: JSON.parse(project.env) }).env as Env
