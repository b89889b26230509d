import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../helpers.ts'

/**
 * The requests of two public clients of similar APIs, a command line and an MCP
 * server, in the order in which a person would send them. `$name` is the id of
 * an earlier response that was stored `as` this name. `by` names the agent whose
 * key the request carries; the others come from the board.
 */
interface Call {
  by?: 'ada' | 'kit'
  as?: string
  request: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`
  body?: object
  status?: number
}

const NEUTRAL = { workMode: 'standard', requestDepth: 0, allowDuplicate: false, blockParentUntilDone: false }
const ASKED = { continuationPolicy: 'wake_assignee', title: null, summary: null }
const SELECTION = { company: true, agents: true, projects: true, issues: true, skills: true }

const CALLS: Call[] = [
  { request: 'GET /api/health' },
  { request: 'GET /api/companies' },
  { request: 'GET /api/companies/stats' },
  { request: 'GET /api/companies/$company' },
  { request: 'PATCH /api/companies/$company', body: { description: 'Tides' } },
  { request: 'PATCH /api/companies/$company/branding', body: { brandColor: '#123456' } },
  { request: 'GET /api/companies/$company/dashboard' },
  { request: 'GET /api/companies/$company/org' },
  { request: 'GET /api/companies/$company/org.svg' },
  { request: 'GET /api/companies/$company/invites' },
  { request: 'GET /api/adapters' },
  { request: 'GET /api/llms/agent-configuration.txt' },
  { request: 'GET /api/llms/agent-configuration/claude_local.txt' },
  { request: 'GET /api/llms/agent-icons.txt' },
  { request: 'POST /api/companies/$company/openclaw/invite-prompt', body: { agentMessage: 'Hello' }, status: 201 },

  {
    as: 'worker',
    request: 'POST /api/companies/$company/agents',
    body: {
      name: 'Ben',
      role: 'engineer',
      reportsTo: '$ada',
      adapterType: 'claude_local',
      adapterConfig: {},
      runtimeConfig: {},
      budgetMonthlyCents: 0,
      permissions: { canCreateAgents: false, canCreateSkills: true },
    },
    status: 201,
  },
  {
    request: 'POST /api/companies/$company/agent-hires',
    body: { name: 'Nia', role: 'engineer', reportsTo: '$ada', adapterType: 'codex_local', adapterConfig: {} },
    status: 201,
  },
  { request: 'GET /api/companies/$company/agents' },
  { request: 'GET /api/companies/$company/agent-configurations' },
  { request: 'GET /api/agents/$worker' },
  { request: 'GET /api/agents/ben?companyId=$company' },
  { request: 'PATCH /api/agents/$worker', body: { title: 'Engineer' } },
  { request: 'GET /api/agents/$worker/configuration' },
  { as: 'revision', request: 'GET /api/agents/$worker/config-revisions' },
  { request: 'GET /api/agents/$worker/config-revisions/$revision' },
  { request: 'POST /api/agents/$worker/config-revisions/$revision/rollback', body: {} },
  { request: 'GET /api/agents/$worker/runtime-state' },
  { request: 'POST /api/agents/$worker/runtime-state/reset-session', body: {} },
  { request: 'GET /api/agents/$worker/task-sessions' },
  { request: 'GET /api/agents/$worker/skills' },
  { request: 'PATCH /api/agents/$worker/permissions', body: { canCreateAgents: false, canAssignTasks: true } },
  { request: 'POST /api/agents/$worker/pause', body: {} },
  { request: 'POST /api/agents/$worker/resume', body: {} },
  {
    request: 'POST /api/agents/$worker/wakeup',
    body: { source: 'on_demand', triggerDetail: 'manual', reason: 'Look', forceFreshSession: true },
    status: 202,
  },
  { request: 'POST /api/agents/$worker/heartbeat/invoke', body: {}, status: 202 },
  { request: 'POST /api/agents/$worker/keys', body: { name: 'laptop', scope: { kind: 'standard' } }, status: 201 },
  { request: 'GET /api/agents/$worker/keys' },
  { by: 'kit', request: 'GET /api/agents/me' },
  { by: 'kit', request: 'GET /api/cli-auth/me' },
  { by: 'kit', request: 'GET /api/agents/me/inbox-lite' },

  {
    as: 'project',
    request: 'POST /api/companies/$company/projects',
    body: { name: 'Tide table', description: 'x', status: 'planned' },
    status: 201,
  },
  { request: 'GET /api/companies/$company/projects' },
  { request: 'GET /api/projects/$project' },
  { request: 'PATCH /api/projects/$project', body: { status: 'in_progress' } },
  { request: 'GET /api/projects/$project/workspaces' },
  { as: 'goal', request: 'POST /api/companies/$company/goals', body: { title: 'Know', level: 'company' }, status: 201 },
  { request: 'GET /api/companies/$company/goals' },
  { request: 'GET /api/goals/$goal' },
  { request: 'PATCH /api/goals/$goal', body: { status: 'active' } },

  {
    as: 'issue',
    request: 'POST /api/companies/$company/issues',
    body: {
      title: 'Read the data',
      description: 'x',
      status: 'todo',
      priority: 'high',
      assigneeAgentId: '$kit',
      projectId: '$project',
      goalId: '$goal',
      ...NEUTRAL,
    },
    status: 201,
  },
  {
    as: 'child',
    request: 'POST /api/issues/$issue/children',
    body: { title: 'Part', status: 'todo', priority: 'medium', ...NEUTRAL },
    status: 201,
  },
  { request: 'GET /api/companies/$company/issues?includeRoutineExecutions=true&unreadForUserId=me&touchedByUserId=me' },
  { request: 'GET /api/companies/$company/issues?status=todo,backlog&assigneeAgentId=$kit&q=data' },
  { request: 'GET /api/issues/$issue' },
  { request: 'GET /api/issues/$issue/heartbeat-context' },
  { request: 'PATCH /api/issues/$issue', body: { priority: 'low', comment: 'Later', workMode: 'standard' } },
  { request: 'POST /api/issues/$issue/read', body: {} },
  { request: 'DELETE /api/issues/$issue/read' },
  { request: 'POST /api/issues/$issue/inbox-archive', body: {} },
  { request: 'DELETE /api/issues/$issue/inbox-archive' },
  {
    by: 'kit',
    request: 'POST /api/issues/$issue/checkout',
    body: { agentId: '$kit', expectedStatuses: ['todo', 'backlog', 'blocked'] },
  },
  { as: 'comment', request: 'POST /api/issues/$issue/comments', body: { body: 'Hello @Kit' }, status: 201 },
  { by: 'kit', request: 'POST /api/issues/$issue/comments', body: { body: 'On it', resume: true }, status: 201 },
  { request: 'POST /api/issues/$issue/comments', body: { body: 'Go on', reopen: true }, status: 201 },
  { request: 'GET /api/issues/$issue/comments?order=desc&limit=5' },
  { request: 'GET /api/issues/$issue/comments?after=$comment' },
  { request: 'GET /api/issues/$issue/comments/$comment' },
  { request: 'GET /api/issues/$issue/runs' },
  { request: 'GET /api/issues/$issue/live-runs' },
  { request: 'GET /api/issues/$issue/active-run' },
  { request: 'GET /api/issues/$issue/activity' },
  { request: 'GET /api/issues/$issue/attachments' },
  { request: 'GET /api/issues/$issue/cost-summary' },
  { as: 'label', request: 'POST /api/companies/$company/labels', body: { name: 'bug', color: '#ff0000' }, status: 201 },
  { request: 'GET /api/companies/$company/labels' },
  { request: 'DELETE /api/labels/$label' },

  {
    by: 'kit',
    request: 'PUT /api/issues/$issue/documents/plan',
    body: { title: 'Plan', format: 'markdown', body: '# First' },
    status: 201,
  },
  { as: 'documentRevision', request: 'GET /api/issues/$issue/documents/plan/revisions' },
  {
    by: 'kit',
    request: 'PUT /api/issues/$issue/documents/plan',
    body: { title: 'Plan', body: '# Second', changeSummary: 'New', baseRevisionId: '$documentRevision' },
  },
  { request: 'GET /api/issues/$issue/documents' },
  { request: 'GET /api/issues/$issue/documents/plan' },
  { by: 'kit', request: 'POST /api/issues/$issue/documents/plan/revisions/$documentRevision/restore', body: {} },
  { request: 'DELETE /api/issues/$issue/documents/plan' },

  {
    as: 'strategy',
    request: 'POST /api/companies/$company/approvals',
    body: {
      type: 'approve_ceo_strategy',
      requestedByAgentId: '$ada',
      payload: { plan: 'Grow' },
      issueIds: ['$issue'],
    },
    status: 201,
  },
  { request: 'GET /api/companies/$company/approvals?status=pending' },
  { request: 'GET /api/approvals/$strategy' },
  { request: 'GET /api/approvals/$strategy/issues' },
  { request: 'POST /api/approvals/$strategy/comments', body: { body: 'Hm' }, status: 201 },
  { request: 'GET /api/approvals/$strategy/comments' },
  { request: 'POST /api/approvals/$strategy/request-revision', body: { decisionNote: 'More' } },
  { by: 'ada', request: 'POST /api/approvals/$strategy/resubmit', body: { payload: { plan: 'Grow slowly' } } },
  { request: 'POST /api/approvals/$strategy/approve', body: { decisionNote: 'Good' } },
  {
    by: 'kit',
    as: 'question',
    request: 'POST /api/companies/$company/approvals',
    body: {
      type: 'request_board_approval',
      payload: { title: 'May I?', summary: 'Because', recommendedAction: 'Yes', risks: ['None'] },
    },
    status: 201,
  },
  { by: 'kit', request: 'POST /api/issues/$issue/approvals', body: { approvalId: '$question' }, status: 201 },
  { request: 'GET /api/issues/$issue/approvals' },
  { by: 'kit', request: 'DELETE /api/issues/$issue/approvals/$question' },
  { request: 'POST /api/companies/$company/inbox-dismissals', body: { itemKey: 'approval:$question' } },
  { request: 'GET /api/companies/$company/inbox-dismissals' },
  { request: 'POST /api/approvals/$question/reject', body: {} },

  {
    by: 'kit',
    as: 'confirmation',
    request: 'POST /api/issues/$issue/interactions',
    body: { kind: 'request_confirmation', ...ASKED, payload: { version: 1, prompt: 'Go on?', acceptLabel: 'Yes' } },
    status: 201,
  },
  { request: 'GET /api/issues/$issue/interactions' },
  { request: 'POST /api/issues/$issue/interactions/$confirmation/accept', body: {} },
  {
    by: 'kit',
    as: 'questions',
    request: 'POST /api/issues/$issue/interactions',
    body: {
      kind: 'ask_user_questions',
      ...ASKED,
      payload: {
        version: 1,
        questions: [
          {
            id: 'q1',
            prompt: 'Which datum?',
            selectionMode: 'single',
            options: [
              { id: 'lat', label: 'LAT' },
              { id: 'msl', label: 'MSL' },
            ],
          },
        ],
      },
    },
    status: 201,
  },
  {
    request: 'POST /api/issues/$issue/interactions/$questions/respond',
    body: { answers: [{ questionId: 'q1', optionIds: ['lat'] }] },
  },
  {
    by: 'kit',
    as: 'tasks',
    request: 'POST /api/issues/$issue/interactions',
    body: {
      kind: 'suggest_tasks',
      ...ASKED,
      payload: {
        version: 1,
        tasks: [
          { clientKey: 'a', title: 'First' },
          { clientKey: 'b', parentClientKey: 'a', title: 'Second' },
        ],
      },
    },
    status: 201,
  },
  { request: 'POST /api/issues/$issue/interactions/$tasks/accept', body: { selectedClientKeys: ['a'] } },
  {
    by: 'kit',
    as: 'boxes',
    request: 'POST /api/issues/$issue/interactions',
    body: {
      kind: 'request_checkbox_confirmation',
      ...ASKED,
      payload: {
        version: 1,
        prompt: 'Which of these?',
        options: [
          { id: 'x', label: 'X' },
          { id: 'y', label: 'Y' },
        ],
        minSelected: 0,
      },
    },
    status: 201,
  },
  { request: 'POST /api/issues/$issue/interactions/$boxes/accept', body: { selectedOptionIds: ['x', 'y'] } },
  {
    by: 'kit',
    as: 'second',
    request: 'POST /api/issues/$issue/interactions',
    body: { kind: 'request_confirmation', continuationPolicy: 'none', payload: { version: 1, prompt: 'Sure?' } },
    status: 201,
  },
  { request: 'POST /api/issues/$issue/interactions/$second/reject', body: { reason: 'No' } },

  { by: 'kit', request: 'POST /api/issues/$issue/release', body: {} },
  { request: 'POST /api/issues/$issue/admin/force-release', body: {} },
  { request: 'GET /api/companies/$company/activity' },
  { request: 'GET /api/companies/$company/costs/summary' },
  { request: 'GET /api/companies/$company/costs/by-agent' },
  { request: 'GET /api/companies/$company/costs/by-project' },
  { request: 'GET /api/companies/$company/costs/by-provider' },
  { request: 'GET /api/companies/$company/heartbeat-runs' },
  {
    as: 'routine',
    request: 'POST /api/companies/$company/routines',
    body: { title: 'Check the gauge', assigneeAgentId: '$kit', description: 'x' },
    status: 201,
  },
  { request: 'GET /api/companies/$company/routines' },
  { request: 'GET /api/routines/$routine' },
  { request: 'PATCH /api/routines/$routine', body: { title: 'Check the gauges' } },
  { request: 'GET /api/routines/$routine/runs' },
  { request: 'GET /api/companies/$company/skills' },
  { request: 'POST /api/companies/$company/exports/preview', body: { include: SELECTION } },
  {
    request: 'POST /api/companies/$company/export',
    body: {
      include: SELECTION,
      skills: [],
      projects: [],
      issues: [],
      projectIssues: [],
      expandReferencedSkills: false,
    },
  },
  {
    request: 'POST /api/companies/$company/imports/preview',
    body: {
      source: { type: 'inline', files: { 'COMPANY.md': '---\nname: Copy\n---\nA copy.\n' } },
      include: SELECTION,
      target: { mode: 'new_company', newCompanyName: 'Copy' },
      agents: 'all',
      collisionStrategy: 'rename',
    },
  },
  { request: 'DELETE /api/issues/$child' },
  { request: 'POST /api/agents/$worker/terminate', body: {} },
  { request: 'POST /api/companies/$company/archive', body: {} },
]

test('the requests of public clients of similar APIs work', async (t) => {
  const { make, request: send } = createTestApp(t)
  const company = await make('POST', '/api/companies', { name: 'Tern & Co' })
  const names: Record<string, string> = { company: company.id }
  const keys: Record<string, string> = {}
  for (const [name, role] of [
    ['ada', 'ceo'],
    ['kit', 'engineer'],
  ] as const) {
    const body = { name, role, adapterType: 'http', adapterConfig: { url: 'http://127.0.0.1:9' } }
    const reportsTo = names.ada ?? null
    names[name] = (await make('POST', `/api/companies/${company.id}/agents`, { ...body, reportsTo })).id
    keys[name] = (await make('POST', `/api/agents/${names[name]}/keys`, { name: 'client' })).token
  }
  const fill = (text: string) => text.replaceAll(/\$(\w+)/g, (_, name: string) => names[name] ?? `no ${name}`)
  for (const { by, as, request, body, status = 200 } of CALLS) {
    const [method, path] = request.split(' ') as [string, string]
    const headers = by && { authorization: `Bearer ${keys[by]}` }
    const response = await send(method, fill(path), body && JSON.parse(fill(JSON.stringify(body))), headers)
    assert.equal(response.status, status, `${request}: ${JSON.stringify(response.body)}`)
    if (as) names[as] = (Array.isArray(response.body) ? response.body[0] : response.body).id
  }
})
