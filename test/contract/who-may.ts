/**
 * The result of every endpoint for every kind of caller, according to the contract
 * and the design. Written by hand, and tested by walk.test.ts. `ok` is any 2xx.
 * An invalid token, the token of an ended run and a revoked key get 401
 * everywhere. Without a token the caller is the board in local mode, and in
 * authenticated mode the status is 401, except for endpoints marked `open`.
 * Endpoints for people who sign in refuse everyone here, and their pages are 404;
 * test/access/request/authorize.test.ts contains the table of their roles.
 *
 * other    the CEO agent of another company
 * IC       an agent without subordinates that the request does not concern
 * self     the agent without subordinates that the request concerns: the agent of the path,
 *          the assignee, the author, the agent of the run
 * manager  the manager of `self`
 * CEO      the manager of both, and the requester of the approval of the path
 */
export const WHO_MAY = `
                                                                           other  IC    self  manager  CEO  board
GET    /                                                                   ok     ok    ok    ok       ok   ok     open
GET    /account                                                            404    404   404   404      404  404    open
POST   /account/password                                                   404    404   404   404      404  404    open
POST   /account/sign-out-everywhere                                        404    404   404   404      404  404    open
POST   /account/tokens                                                     404    404   404   404      404  404    open
POST   /account/tokens/revoke                                              404    404   404   404      404  404    open
GET    /api/adapters                                                       ok     ok    ok    ok       ok   ok
GET    /api/agents/:agentId                                                404    ok    ok    ok       ok   ok
PATCH  /api/agents/:agentId                                                404    403   ok    ok       ok   ok
POST   /api/agents/:agentId/approve-configuration                          403    403   403   403      403  ok
PATCH  /api/agents/:agentId/budgets                                        404    403   403   ok       ok   ok
GET    /api/agents/:agentId/config-revisions                               404    ok    ok    ok       ok   ok
GET    /api/agents/:agentId/config-revisions/:revisionId                   404    ok    ok    ok       ok   ok
POST   /api/agents/:agentId/config-revisions/:revisionId/rollback          403    403   403   403      403  ok
GET    /api/agents/:agentId/configuration                                  404    ok    ok    ok       ok   ok
POST   /api/agents/:agentId/heartbeat/invoke                               404    403   403   ok       ok   ok
PATCH  /api/agents/:agentId/instructions-path                              404    403   ok    ok       ok   ok
GET    /api/agents/:agentId/keys                                           404    403   ok    403      403  ok
POST   /api/agents/:agentId/keys                                           404    403   ok    403      403  ok
DELETE /api/agents/:agentId/keys/:keyId                                    404    403   ok    403      403  ok
POST   /api/agents/:agentId/pause                                          403    403   403   403      403  ok
PATCH  /api/agents/:agentId/permissions                                    403    403   403   403      403  ok
POST   /api/agents/:agentId/rehearse                                       404    403   403   ok       ok   ok
POST   /api/agents/:agentId/resume                                         403    403   403   403      403  ok
GET    /api/agents/:agentId/runtime-state                                  404    ok    ok    ok       ok   ok
POST   /api/agents/:agentId/runtime-state/reset-session                    404    403   403   ok       ok   ok
GET    /api/agents/:agentId/skills                                         404    ok    ok    ok       ok   ok
POST   /api/agents/:agentId/skills/sync                                    404    403   ok    ok       ok   ok
GET    /api/agents/:agentId/task-sessions                                  404    ok    ok    ok       ok   ok
POST   /api/agents/:agentId/terminate                                      403    403   403   403      403  ok
POST   /api/agents/:agentId/wakeup                                         404    403   403   ok       ok   ok
GET    /api/agents/me                                                      ok     ok    ok    ok       ok   403
GET    /api/agents/me/inbox                                                ok     ok    ok    ok       ok   403
GET    /api/agents/me/inbox-lite                                           ok     ok    ok    ok       ok   403
GET    /api/approvals/:approvalId                                          404    ok    ok    ok       ok   ok
POST   /api/approvals/:approvalId/approve                                  403    403   403   403      403  ok
POST   /api/approvals/:approvalId/cancel                                   404    403   403   403      ok   ok
GET    /api/approvals/:approvalId/comments                                 404    ok    ok    ok       ok   ok
POST   /api/approvals/:approvalId/comments                                 404    ok    ok    ok       ok   ok
GET    /api/approvals/:approvalId/issues                                   404    ok    ok    ok       ok   ok
POST   /api/approvals/:approvalId/reject                                   403    403   403   403      403  ok
POST   /api/approvals/:approvalId/request-revision                         403    403   403   403      403  ok
POST   /api/approvals/:approvalId/resubmit                                 404    403   403   403      ok   ok
GET    /api/assets/:assetId                                                404    ok    ok    ok       ok   ok
DELETE /api/attachments/:attachmentId                                      404    403   ok    403      403  ok
POST   /api/auth/change-password                                           403    403   403   403      403  403
POST   /api/auth/reset-links                                               404    404   404   404      404  404    open
GET    /api/auth/session                                                   403    403   403   403      403  ok
GET    /api/auth/sessions                                                  403    403   403   403      403  403
DELETE /api/auth/sessions/:sessionId                                       403    403   403   403      403  403
POST   /api/auth/sign-in                                                   404    404   404   404      404  404    open
POST   /api/auth/sign-out                                                  404    404   404   404      404  404    open
POST   /api/auth/sign-out-everywhere                                       403    403   403   403      403  403
GET    /api/board/tokens                                                   403    403   403   403      403  403
POST   /api/board/tokens                                                   403    403   403   403      403  403
DELETE /api/board/tokens/:tokenId                                          403    403   403   403      403  403
GET    /api/cli-auth/me                                                    ok     ok    ok    ok       ok   ok
GET    /api/companies                                                      ok     ok    ok    ok       ok   ok
POST   /api/companies                                                      403    403   403   403      403  ok
GET    /api/companies/:companyId                                           403    403   403   403      ok   ok
PATCH  /api/companies/:companyId                                           403    403   403   403      ok   ok
DELETE /api/companies/:companyId                                           403    403   403   403      403  ok
GET    /api/companies/:companyId/activity                                  403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/agent-configurations                      403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/agent-hires                               403    403   403   ok       ok   ok
GET    /api/companies/:companyId/agents                                    403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/agents                                    403    403   403   403      403  ok
GET    /api/companies/:companyId/approvals                                 403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/approvals                                 403    403   403   ok       ok   ok
POST   /api/companies/:companyId/archive                                   403    403   403   403      403  ok
PATCH  /api/companies/:companyId/branding                                  403    403   403   403      ok   ok
PATCH  /api/companies/:companyId/budgets                                   403    403   403   403      403  ok
GET    /api/companies/:companyId/cost-events                               403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/cost-events                               403    403   ok    403      403  ok
GET    /api/companies/:companyId/cost-events.csv                           403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/costs/by-agent                            403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/costs/by-day                              403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/costs/by-issue                            403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/costs/by-model                            403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/costs/by-project                          403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/costs/by-provider                         403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/costs/summary                             403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/dashboard                                 403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/events                                    403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/export                                    403    403   403   403      ok   ok
POST   /api/companies/:companyId/exports                                   403    403   403   403      ok   ok
POST   /api/companies/:companyId/exports/preview                           403    403   403   403      ok   ok
POST   /api/companies/:companyId/gateway/invite-prompt                     403    403   403   403      ok   ok
GET    /api/companies/:companyId/gateway/invites                           403    403   403   403      ok   ok
DELETE /api/companies/:companyId/gateway/invites/:inviteId                 403    403   403   403      ok   ok
GET    /api/companies/:companyId/goals                                     403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/goals                                     403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/heartbeat-runs                            403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/imports/apply                             403    403   403   403      ok   ok
POST   /api/companies/:companyId/imports/preview                           403    403   403   403      ok   ok
GET    /api/companies/:companyId/inbox-dismissals                          403    403   403   403      403  ok
POST   /api/companies/:companyId/inbox-dismissals                          403    403   403   403      403  ok
GET    /api/companies/:companyId/interactions                              403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/invitations                               403    403   403   403      403  403
POST   /api/companies/:companyId/invitations                               403    403   403   403      403  403
DELETE /api/companies/:companyId/invitations/:invitationId                 403    403   403   403      403  403
GET    /api/companies/:companyId/invites                                   403    403   403   403      ok   ok
GET    /api/companies/:companyId/issues                                    403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/issues                                    403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/labels                                    403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/labels                                    403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/live-runs                                 403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/logo                                      403    403   403   403      ok   ok
GET    /api/companies/:companyId/members                                   403    403   403   403      403  ok
PATCH  /api/companies/:companyId/members/:userId                           403    403   403   403      403  403
DELETE /api/companies/:companyId/members/:userId                           403    403   403   403      403  403
POST   /api/companies/:companyId/openclaw/invite-prompt                    403    403   403   403      ok   ok
GET    /api/companies/:companyId/org                                       403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/org.svg                                   403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/projects                                  403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/projects                                  403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/routines                                  403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/routines                                  403    403   403   ok       ok   ok
GET    /api/companies/:companyId/runs                                      403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/search                                    403    ok    ok    ok       ok   ok
GET    /api/companies/:companyId/secrets                                   403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/secrets                                   403    403   403   403      403  ok
GET    /api/companies/:companyId/skills                                    403    ok    ok    ok       ok   ok
POST   /api/companies/:companyId/skills/fetch                              403    403   403   ok       ok   ok
POST   /api/companies/:companyId/skills/import                             403    403   403   ok       ok   ok
POST   /api/companies/:companyId/stop                                      403    403   403   403      403  ok
POST   /api/companies/:companyId/thaw                                      403    403   403   403      403  ok
GET    /api/companies/:companyId/webhooks                                  403    403   403   403      403  ok
POST   /api/companies/:companyId/webhooks                                  403    403   403   403      403  ok
POST   /api/companies/import/apply                                         403    403   403   403      403  ok
POST   /api/companies/import/preview                                       403    403   403   403      403  ok
GET    /api/companies/stats                                                ok     ok    ok    ok       ok   ok
GET    /api/docs                                                           ok     ok    ok    ok       ok   ok     open
GET    /api/docs/:page                                                     ok     ok    ok    ok       ok   ok     open
GET    /api/docs/endpoints/:id                                             ok     ok    ok    ok       ok   ok     open
GET    /api/goals/:goalId                                                  404    ok    ok    ok       ok   ok
PATCH  /api/goals/:goalId                                                  404    ok    ok    ok       ok   ok
DELETE /api/goals/:goalId                                                  404    403   403   403      ok   ok
GET    /api/health                                                         ok     ok    ok    ok       ok   ok     open
GET    /api/heartbeat-runs/:runId                                          404    ok    ok    ok       ok   ok
POST   /api/heartbeat-runs/:runId/cancel                                   404    403   403   ok       ok   ok
GET    /api/heartbeat-runs/:runId/events                                   404    ok    ok    ok       ok   ok
GET    /api/heartbeat-runs/:runId/log                                      404    ok    ok    ok       ok   ok
GET    /api/inbox                                                          403    403   403   403      403  ok
PATCH  /api/inbox/:itemId                                                  403    403   403   403      403  ok
GET    /api/instance                                                       403    403   403   403      403  ok
GET    /api/instance/check                                                 403    403   403   403      403  ok
POST   /api/instance/demo-agent                                            403    403   403   403      403  ok
POST   /api/instance/freeze                                                403    403   403   403      403  ok
GET    /api/instance/programs                                              403    403   403   403      403  ok
POST   /api/instance/thaw                                                  403    403   403   403      403  ok
POST   /api/invites/:token/accept                                          ok     ok    ok    ok       ok   ok     open
POST   /api/invites/:token/claim-key                                       ok     ok    ok    ok       ok   ok     open
GET    /api/invites/:token/onboarding.txt                                  ok     ok    ok    ok       ok   ok     open
GET    /api/issues/:issueId                                                404    ok    ok    ok       ok   ok
PATCH  /api/issues/:issueId                                                404    403   ok    ok       ok   ok
DELETE /api/issues/:issueId                                                403    403   403   403      403  ok
GET    /api/issues/:issueId/active-run                                     404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/activity                                       404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/admin/force-release                            403    403   403   403      403  ok
GET    /api/issues/:issueId/approvals                                      404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/approvals                                      404    ok    ok    ok       ok   ok
DELETE /api/issues/:issueId/approvals/:approvalId                          404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/attachments                                    404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/attachments                                    404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/changes                                        404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/checkout                                       404    409   ok    409      409  ok
POST   /api/issues/:issueId/children                                       404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/close                                          403    403   403   403      403  ok
GET    /api/issues/:issueId/comments                                       404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/comments                                       404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/comments/:commentId                            404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/cost-summary                                   404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/costs                                          404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/documents                                      404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/documents/:key                                 404    ok    ok    ok       ok   ok
PUT    /api/issues/:issueId/documents/:key                                 404    ok    ok    ok       ok   ok
DELETE /api/issues/:issueId/documents/:key                                 404    403   ok    ok       ok   ok
GET    /api/issues/:issueId/documents/:key/revisions                       404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/documents/:key/revisions/:revisionId           404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/documents/:key/revisions/:revisionId/restore   404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/heartbeat-context                              404    ok    ok    ok       ok   ok
DELETE /api/issues/:issueId/inbox-archive                                  403    403   403   403      403  ok
POST   /api/issues/:issueId/inbox-archive                                  403    403   403   403      403  ok
GET    /api/issues/:issueId/interactions                                   404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/interactions                                   404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/interactions/:interactionId                    404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/interactions/:interactionId/accept             403    403   403   403      403  ok
POST   /api/issues/:issueId/interactions/:interactionId/answer             403    403   403   403      403  ok
POST   /api/issues/:issueId/interactions/:interactionId/cancel             404    403   ok    403      403  ok
POST   /api/issues/:issueId/interactions/:interactionId/reject             403    403   403   403      403  ok
POST   /api/issues/:issueId/interactions/:interactionId/respond            403    403   403   403      403  ok
GET    /api/issues/:issueId/live-runs                                      404    ok    ok    ok       ok   ok
POST   /api/issues/:issueId/read                                           403    403   403   403      403  ok
DELETE /api/issues/:issueId/read                                           403    403   403   403      403  ok
POST   /api/issues/:issueId/release                                        404    403   ok    403      403  ok
GET    /api/issues/:issueId/runs                                           404    ok    ok    ok       ok   ok
GET    /api/issues/:issueId/why                                            404    ok    ok    ok       ok   ok
PATCH  /api/labels/:labelId                                                404    403   403   ok       ok   ok
DELETE /api/labels/:labelId                                                404    403   403   ok       ok   ok
GET    /api/llms/agent-configuration.txt                                   ok     ok    ok    ok       ok   ok
GET    /api/llms/agent-configuration/:adapterType.txt                      ok     ok    ok    ok       ok   ok
GET    /api/llms/agent-icons.txt                                           ok     ok    ok    ok       ok   ok
GET    /api/metrics                                                        403    403   403   403      403  ok
GET    /api/openapi.json                                                   ok     ok    ok    ok       ok   ok     open
GET    /api/placements                                                     403    403   403   403      403  ok
POST   /api/placements                                                     403    403   403   403      403  ok
DELETE /api/placements/:placement                                          403    403   403   403      403  ok
GET    /api/placements/:placement                                          403    403   403   403      403  ok
PATCH  /api/placements/:placement                                          403    403   403   403      403  ok
POST   /api/placements/:placement/test                                     403    403   403   403      403  ok
GET    /api/projects/:projectId                                            404    ok    ok    ok       ok   ok
PATCH  /api/projects/:projectId                                            404    ok    ok    ok       ok   ok
DELETE /api/projects/:projectId                                            404    403   403   403      ok   ok
GET    /api/projects/:projectId/workspaces                                 404    ok    ok    ok       ok   ok
POST   /api/projects/:projectId/workspaces                                 404    403   403   ok       ok   ok
GET    /api/projects/:projectId/workspaces/:workspaceId                    404    ok    ok    ok       ok   ok
PATCH  /api/projects/:projectId/workspaces/:workspaceId                    404    403   403   ok       ok   ok
DELETE /api/projects/:projectId/workspaces/:workspaceId                    404    403   403   ok       ok   ok
GET    /api/routines/:routineId                                            404    ok    ok    ok       ok   ok
PATCH  /api/routines/:routineId                                            404    403   403   ok       ok   ok
DELETE /api/routines/:routineId                                            404    403   403   ok       ok   ok
GET    /api/routines/:routineId/history                                    404    ok    ok    ok       ok   ok
POST   /api/routines/:routineId/pause                                      404    403   403   ok       ok   ok
POST   /api/routines/:routineId/resume                                     404    403   403   ok       ok   ok
POST   /api/routines/:routineId/run                                        404    403   403   ok       ok   ok
GET    /api/routines/:routineId/runs                                       404    ok    ok    ok       ok   ok
GET    /api/runs/:runId                                                    404    ok    ok    ok       ok   ok
POST   /api/runs/:runId/bundle                                             403    403   403   403      403  403
POST   /api/runs/:runId/cancel                                             404    403   403   ok       ok   ok
GET    /api/runs/:runId/events                                             404    ok    ok    ok       ok   ok
GET    /api/runs/:runId/log                                                404    ok    ok    ok       ok   ok
GET    /api/runs/:runId/log/stream                                         404    ok    ok    ok       ok   ok
POST   /api/runs/:runId/report                                             403    403   403   403      403  403
GET    /api/secrets/:secretId                                              403    403   403   403      403  ok
DELETE /api/secrets/:secretId                                              403    403   403   403      403  ok
POST   /api/secrets/:secretId/rotate                                       403    403   403   403      403  ok
GET    /api/skills/:skillId                                                404    ok    ok    ok       ok   ok
DELETE /api/skills/:skillId                                                404    403   403   ok       ok   ok
GET    /api/skills/:skillId/files                                          404    ok    ok    ok       ok   ok
GET    /api/templates                                                      ok     ok    ok    ok       ok   ok
GET    /api/webhooks/:webhookId                                            403    403   403   403      403  ok
PATCH  /api/webhooks/:webhookId                                            403    403   403   403      403  ok
DELETE /api/webhooks/:webhookId                                            403    403   403   403      403  ok
GET    /api/webhooks/:webhookId/deliveries                                 403    403   403   403      403  ok
POST   /api/webhooks/:webhookId/rotate-secret                              403    403   403   403      403  ok
POST   /api/webhooks/:webhookId/test                                       403    403   403   403      403  ok
GET    /api/whoami                                                         ok     ok    ok    ok       ok   ok
GET    /enter                                                              404    404   404   404      404  404    open
GET    /join                                                               404    404   404   404      404  404    open
POST   /join                                                               404    404   404   404      404  404    open
GET    /llms/agent-configuration.txt                                       ok     ok    ok    ok       ok   ok
GET    /llms/agent-configuration/:adapterType.txt                          ok     ok    ok    ok       ok   ok
GET    /llms/agent-icons.txt                                               ok     ok    ok    ok       ok   ok
GET    /login                                                              404    404   404   404      404  404    open
POST   /login                                                              404    404   404   404      404  404    open
GET    /logout                                                             404    404   404   404      404  404    open
POST   /logout                                                             404    404   404   404      404  404    open
GET    /reset                                                              404    404   404   404      404  404    open
POST   /reset                                                              404    404   404   404      404  404    open
GET    /setup                                                              404    404   404   404      404  404    open
POST   /setup                                                              404    404   404   404      404  404    open
`

export const KINDS = ['other', 'IC', 'self', 'manager', 'CEO', 'board'] as const
export type Kind = (typeof KINDS)[number]

export interface Line {
  method: string
  path: string
  isOpen: boolean
  /** `ok`, or the status of the error. */
  answers: Record<Kind, string>
}

/** The lines of the table by method and path. */
export const LINES: ReadonlyMap<string, Line> = new Map(
  WHO_MAY.trim()
    .split('\n')
    .slice(1)
    .map((text) => {
      const [method = '', path = '', ...cells] = text.split(/ +/)
      const responses = Object.fromEntries(KINDS.map((kind, i) => [kind, cells[i]])) as Line['answers']
      return [`${method} ${path}`, { method, path, isOpen: cells[KINDS.length] === 'open', answers: responses }]
    }),
)
