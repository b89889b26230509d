import { Hono } from 'hono'
import { activityRoutes } from '../activity/routes.ts'
import { configRoutes } from '../agent/config-routes.ts'
import { controlRoutes } from '../agent/control-routes.ts'
import { hireRoutes } from '../agent/hire-routes.ts'
import { keyRoutes } from '../agent/key-routes.ts'
import { agentRoutes } from '../agent/routes.ts'
import { approvalRoutes, issueApprovalRoutes } from '../approval/routes.ts'
import { assetRoutes } from '../asset/routes.ts'
import { commentRoutes } from '../comment/routes.ts'
import { companyRoutes } from '../company/routes.ts'
import type { Context } from '../context.ts'
import { costRoutes } from '../cost/routes.ts'
import { goalRoutes } from '../goal/routes.ts'
import { guideRoutes } from '../guide/routes.ts'
import { issueRoutes } from '../issue/routes.ts'
import { labelRoutes } from '../label/routes.ts'
import { projectRoutes } from '../project/routes.ts'
import { workspaceRoutes } from '../project/workspace-routes.ts'
import { runRoutes } from '../run/routes.ts'
import { skillRoutes } from '../skill/routes.ts'
import { docsRoutes } from './docs.ts'
import { eventRoutes } from './events.ts'
import { mount } from './mount.ts'
import { documentRoutes } from './openapi.ts'
import type { Endpoint } from './route.ts'

/** Every endpoint there is. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...activityRoutes,
  ...agentRoutes,
  ...approvalRoutes,
  ...assetRoutes,
  ...commentRoutes,
  ...companyRoutes,
  ...configRoutes,
  ...controlRoutes,
  ...costRoutes,
  ...eventRoutes,
  ...goalRoutes,
  ...guideRoutes(() => ENDPOINTS),
  ...hireRoutes,
  ...issueApprovalRoutes,
  ...issueRoutes,
  ...keyRoutes,
  ...labelRoutes,
  ...projectRoutes,
  ...runRoutes,
  ...skillRoutes,
  ...workspaceRoutes,
  ...docsRoutes(() => ENDPOINTS),
  ...documentRoutes(() => ENDPOINTS),
]

/** The whole API as one Hono app. The gate stands before it, in the server. */
export function createApp(ctx: Context): Hono {
  const app = new Hono()
  mount(app, ctx, ENDPOINTS)
  return app
}
