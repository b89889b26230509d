import { Hono } from 'hono'
import { activityRoutes } from '../activity/routes.ts'
import { configRoutes } from '../agent/config-routes.ts'
import { controlRoutes } from '../agent/control-routes.ts'
import { hireRoutes } from '../agent/hire-routes.ts'
import { keyRoutes } from '../agent/key-routes.ts'
import { agentRoutes } from '../agent/routes.ts'
import { approvalRoutes, issueApprovalRoutes } from '../approval/routes.ts'
import { assetRoutes } from '../asset/routes.ts'
import { accountRoutes } from '../auth/account-routes.ts'
import { homeRoutes } from '../auth/home-routes.ts'
import { pageRoutes } from '../auth/page-routes.ts'
import { sessionRoutes } from '../auth/session-routes.ts'
import { boardRoutes } from '../board/routes.ts'
import { commentRoutes } from '../comment/routes.ts'
import { companyRoutes } from '../company/routes.ts'
import type { Context } from '../context.ts'
import { costRoutes } from '../cost/routes.ts'
import { dashboardRoutes } from '../dashboard/routes.ts'
import { checkRoutes } from '../database/check-routes.ts'
import { docsRoutes } from '../docs/routes.ts'
import { documentRoutes as issueDocumentRoutes } from '../document/routes.ts'
import { goalRoutes } from '../goal/routes.ts'
import { guideRoutes } from '../guide/routes.ts'
import { instanceRoutes } from '../instance/routes.ts'
import { inviteRoutes } from '../invite/routes.ts'
import { issueRoutes } from '../issue/routes.ts'
import { whyRoutes } from '../issue/why-routes.ts'
import { labelRoutes } from '../label/routes.ts'
import { packageRoutes } from '../package/routes.ts'
import { projectRoutes } from '../project/routes.ts'
import { workspaceRoutes } from '../project/workspace-routes.ts'
import { routineRoutes } from '../routine/routes.ts'
import { rehearseRoutes } from '../run/rehearse-routes.ts'
import { runRoutes } from '../run/routes.ts'
import { searchRoutes } from '../search/routes.ts'
import { secretRoutes } from '../secret/routes.ts'
import { skillRoutes } from '../skill/routes.ts'
import { eventRoutes } from './events.ts'
import { mount } from './mount.ts'
import { documentRoutes } from './openapi.ts'
import type { Endpoint } from './route.ts'

/** Every endpoint there is. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...accountRoutes,
  ...activityRoutes,
  ...agentRoutes,
  ...approvalRoutes,
  ...assetRoutes,
  ...boardRoutes,
  ...checkRoutes,
  ...commentRoutes,
  ...companyRoutes,
  ...configRoutes,
  ...controlRoutes,
  ...costRoutes,
  ...dashboardRoutes,
  ...eventRoutes,
  ...goalRoutes,
  ...hireRoutes,
  ...homeRoutes,
  ...instanceRoutes,
  ...inviteRoutes,
  ...issueApprovalRoutes,
  ...issueDocumentRoutes,
  ...issueRoutes,
  ...keyRoutes,
  ...labelRoutes,
  ...packageRoutes,
  ...pageRoutes,
  ...projectRoutes,
  ...rehearseRoutes,
  ...routineRoutes,
  ...runRoutes,
  ...searchRoutes,
  ...secretRoutes,
  ...sessionRoutes,
  ...skillRoutes,
  ...whyRoutes,
  ...workspaceRoutes,
  ...docsRoutes(() => API),
  ...guideRoutes(() => API),
  ...documentRoutes(() => API),
]

/** What is documented: the API, without the pages of signing in that stand beside it. */
export const API: readonly Endpoint[] = ENDPOINTS.filter(({ path }) => /^\/(api|llms)\//.test(path))

/** The whole API as one Hono app. The gate stands before it, in the server. */
export function createApp(ctx: Context): Hono {
  const app = new Hono()
  mount(app, ctx, ENDPOINTS)
  return app
}
