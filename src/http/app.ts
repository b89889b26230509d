import { Hono } from 'hono'
import { activityRoutes } from '../activity/routes.ts'
import { commentRoutes } from '../comment/routes.ts'
import { companyRoutes } from '../company/routes.ts'
import type { Context } from '../context.ts'
import { issueRoutes } from '../issue/routes.ts'
import { labelRoutes } from '../label/routes.ts'
import { mount } from './mount.ts'
import { documentRoutes } from './openapi.ts'
import type { Endpoint } from './route.ts'

/** Every endpoint there is. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...activityRoutes,
  ...commentRoutes,
  ...companyRoutes,
  ...issueRoutes,
  ...labelRoutes,
]

/** The whole API as one Hono app. The gate stands before it, in the server. */
export function createApp(ctx: Context): Hono {
  const app = new Hono()
  mount(app, ctx, [...ENDPOINTS, ...documentRoutes(ENDPOINTS)])
  return app
}
