import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { Fetch } from '../../../src/clients/client/client.ts'

// biome-ignore lint/suspicious/noExplicitAny: a stub of JSON shapes.
type Json = any

/** A company in memory with the data types of the contract, for one agent program at a time. */
export interface Stub {
  url: string
  agents: Json[]
  issues: Json[]
  approvals: Json[]
  comments: Json[]
  add(noun: 'agents' | 'issues' | 'approvals', fields: object): Json
}

/** Creates a company without a server. `fetchFrom` sends requests to it. */
export function createStub(): Stub {
  let count = 0
  const stub: Stub = {
    url: 'http://stub',
    agents: [],
    issues: [],
    approvals: [],
    comments: [],
    add(noun, fields) {
      const id = `${noun}-${++count}`
      const row = { ...EMPTY[noun], id, identifier: `TER-${count}`, ...fields }
      stub[noun].push(row)
      return row
    },
  }
  return stub
}

/** Sends requests to a stub without a socket. */
export const fetchFrom =
  (stub: Stub): Fetch =>
  async (url, { method, headers, body }) => {
    const sent = body === undefined ? undefined : JSON.parse(body as string)
    const reply = answerOf(stub, { method, url, authorization: headers.authorization, body: sent })
    const content = JSON.stringify(reply.body)
    return {
      status: reply.status,
      headers: new Headers({ 'content-type': 'application/json' }),
      text: async () => content,
    }
  }

/** Starts a server with the part of the API that the demo agent uses. The bearer token is the id of the agent. */
export async function startStub(t: TestContext): Promise<Stub> {
  const stub = createStub()
  const keys = new Map<string, Json>()
  const server = createServer(async (request, response) => {
    const key = request.headers['idempotency-key'] as string | undefined
    const first = key === undefined ? undefined : keys.get(key)
    const { method = '', url = '' } = request
    const body = method === 'GET' ? undefined : await json(request)
    const reply = first ?? answerOf(stub, { method, url, authorization: request.headers.authorization, body })
    if (key !== undefined) keys.set(key, reply)
    response.writeHead(reply.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  stub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return stub
}

const EMPTY = {
  agents: { companyId: 'c', status: 'idle', reportsTo: null },
  issues: {
    status: 'todo',
    priority: 'medium',
    description: null,
    assigneeAgentId: null,
    parentId: null,
    projectId: null,
    goalId: null,
  },
  approvals: { status: 'pending', decisionNote: null, issueIds: [] },
}

interface StubRequest {
  method: string
  url: string
  authorization: string | undefined
  body: Json
}

function answerOf(stub: Stub, { body, ...request }: StubRequest): { status: number; body: Json } {
  const url = new URL(request.url, stub.url)
  const me = stub.agents.find((agent) => `Bearer ${agent.id}` === request.authorization)
  if (!me) return { status: 401, body: { error: 'Who are you?', code: 'unauthenticated' } }
  const ok = (reply: Json, status = 200) => ({ status, body: reply })
  const refuse = (status: 404 | 409 | 422) => ({
    status,
    body: { error: `Refused with ${status}.`, code: REFUSALS[status] },
  })
  const [, , noun, id, part] = url.pathname.split('/')
  const query = url.searchParams

  if (noun === 'agents' && id === 'me') return ok(me)
  if (noun === 'companies') {
    if (request.method === 'POST' && part === 'issues') return ok(stub.add('issues', body), 201)
    if (request.method === 'POST' && part === 'approvals') return ok(stub.add('approvals', body), 201)
    if (part === 'agents') return ok(stub.agents)
    if (part === 'approvals') return ok(stub.approvals)
    const statuses = query.get('status')?.split(',')
    const assignee = query.get('assigneeAgentId')
    return ok(
      stub.issues.filter(
        (issue) => (!statuses || statuses.includes(issue.status)) && (!assignee || issue.assigneeAgentId === assignee),
      ),
    )
  }
  if (noun === 'approvals') {
    const approval = stub.approvals.find((one) => one.id === id)
    if (part === 'issues') return ok(stub.issues.filter((issue) => approval.issueIds.includes(issue.id)))
    if (part === 'resubmit') Object.assign(approval, body, { status: 'pending' })
    return ok(approval)
  }
  const issue = stub.issues.find((one) => one.id === id)
  if (!issue) return refuse(404)
  const comment = (text: string) =>
    stub.comments.push({
      id: `comment-${stub.comments.length}`,
      issueId: id,
      authorAgentId: me.id,
      authorUserId: null,
      body: text,
    })
  if (part === 'comments' && request.method === 'POST') return ok(comment(body.body), 201)
  if (part === 'comments') return ok(stub.comments.filter((one) => one.issueId === id))
  if (part === 'checkout') {
    if (issue.assigneeAgentId !== null && issue.assigneeAgentId !== me.id) return refuse(409)
    Object.assign(issue, { status: 'in_progress', assigneeAgentId: me.id })
  }
  if (request.method === 'PATCH') {
    if (issue.status !== body.status && !NEXT[issue.status]?.includes(body.status)) return refuse(422)
    issue.status = body.status
    if (body.comment) comment(body.comment)
  }
  return ok(issue)
}

const REFUSALS = { 404: 'not_found', 409: 'issue_taken', 422: 'invalid_transition' }

/** The status transitions of the contract that an agent can make by PATCH. */
const NEXT: Record<string, string[]> = {
  backlog: ['todo'],
  todo: ['in_progress'],
  in_progress: ['in_review', 'blocked', 'done'],
  in_review: ['done', 'in_progress'],
  blocked: ['todo', 'in_progress'],
}
