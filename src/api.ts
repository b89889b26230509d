import { eventRoutes } from './access/activity/event-routes.ts'
import { activityRoutes } from './access/activity/routes.ts'
import { boardRoutes } from './access/board/routes.ts'
import { secretRoutes } from './access/secret/routes.ts'
import { sessionRoutes } from './access/session/routes.ts'
import { webhookRoutes } from './access/webhook/routes.ts'
import type { TypedEndpoint } from './http/route.ts'
import { configRoutes } from './organization/agent/config-routes.ts'
import { controlRoutes } from './organization/agent/control-routes.ts'
import { keyRoutes } from './organization/agent/key-routes.ts'
import { agentRoutes } from './organization/agent/routes.ts'
import { skillRoutes } from './organization/agent-skill/routes.ts'
import { assetRoutes } from './organization/asset/routes.ts'
import { companyRoutes } from './organization/company/routes.ts'
import { metricsRoutes } from './organization/instance/metrics-routes.ts'
import { instanceRoutes } from './organization/instance/routes.ts'
import { placementRoutes } from './organization/placement/routes.ts'
import { runRoutes } from './organization/run/routes.ts'
import { whoamiRoutes } from './organization/whoami/routes.ts'
import { packageRoutes } from './portability/routes.ts'
import { runControlRoutes } from './runtime/control/routes.ts'
import { remoteRunRoutes } from './runtime/placement/routes.ts'
import { programRoutes } from './runtime/programs/routes.ts'
import { rehearseRoutes } from './runtime/rehearsal/rehearse-routes.ts'
import { runLogRoutes } from './runtime/run-log/routes.ts'
import { whyRoutes } from './runtime/why/routes.ts'
import { worktreeRoutes } from './runtime/worktree/routes.ts'
import { approvalRoutes, issueApprovalRoutes } from './work/approval/routes.ts'
import { attachmentRoutes } from './work/attachment/routes.ts'
import { briefingRoutes } from './work/briefing/routes.ts'
import { costRoutes } from './work/cost-report/routes.ts'
import { dashboardRoutes } from './work/dashboard/routes.ts'
import { documentRoutes as issueDocumentRoutes } from './work/document/routes.ts'
import { goalRoutes } from './work/goal/routes.ts'
import { inboxRoutes } from './work/inbox/routes.ts'
import { interactionRoutes } from './work/interaction/routes.ts'
import { inviteRoutes } from './work/invite/routes.ts'
import { commentRoutes } from './work/issue/comment-routes.ts'
import { issueRoutes } from './work/issue/routes.ts'
import { labelRoutes } from './work/label/routes.ts'
import { projectRoutes } from './work/project/routes.ts'
import { workspaceRoutes } from './work/project/workspace-routes.ts'
import { removalRoutes } from './work/removal/routes.ts'
import { routineRoutes } from './work/routine/routes.ts'
import { searchRoutes } from './work/search/routes.ts'
import { staffingRoutes } from './work/staffing/routes.ts'

/**
 * The endpoints of every noun. The endpoints that only present the API (pages,
 * documentation, guides) are added in clients/routes.ts.
 */
export const ENDPOINTS = [
  ...activityRoutes,
  ...agentRoutes,
  ...approvalRoutes,
  ...assetRoutes,
  ...attachmentRoutes,
  ...boardRoutes,
  ...briefingRoutes,
  ...commentRoutes,
  // Before `companyRoutes`: /api/companies/:companyId also matches /api/companies/stats.
  ...dashboardRoutes,
  ...companyRoutes,
  ...configRoutes,
  ...controlRoutes,
  ...costRoutes,
  ...eventRoutes,
  ...goalRoutes,
  ...staffingRoutes,
  ...instanceRoutes,
  ...metricsRoutes,
  ...inboxRoutes,
  ...interactionRoutes,
  ...inviteRoutes,
  ...issueApprovalRoutes,
  ...issueDocumentRoutes,
  ...issueRoutes,
  ...keyRoutes,
  ...labelRoutes,
  ...packageRoutes,
  ...placementRoutes,
  ...programRoutes,
  ...remoteRunRoutes,
  ...projectRoutes,
  ...rehearseRoutes,
  ...removalRoutes,
  ...routineRoutes,
  ...runControlRoutes,
  ...runLogRoutes,
  ...runRoutes,
  ...searchRoutes,
  ...secretRoutes,
  ...sessionRoutes,
  ...skillRoutes,
  ...webhookRoutes,
  ...whoamiRoutes,
  ...whyRoutes,
  ...worktreeRoutes,
  ...workspaceRoutes,
]

type Listed = (typeof ENDPOINTS)[number]

/** What a client sends to each endpoint and receives from it, by the endpoint's name. */
type Wires = {
  [E in Listed as E extends { method: infer M extends string; path: infer Path extends string }
    ? `${M} ${Path}`
    : never]: E extends TypedEndpoint<string, infer _M, string, infer W> ? W : never
}

/** `'GET /api/issues/:issueId'`: the name of an endpoint in the typed client. */
export type EndpointName = keyof Wires

/** What a client sends to an endpoint and receives from it. */
export type WireOf<Name extends EndpointName> = Wires[Name]
