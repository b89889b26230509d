import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type HttpResponse, sendHttp } from '../client/node-http.ts'

export interface Agent {
  id: string
  companyId: string
  name: string
  role: string
  status: string
  reportsTo: string | null
}

export interface Issue {
  id: string
  identifier: string
  title: string
  description: string | null
  status: string
  priority: string
  assigneeAgentId: string | null
  parentId: string | null
  projectId: string | null
  goalId: string | null
}

export interface Comment {
  id: string
  authorAgentId: string | null
  authorUserId: string | null
  body: string
}

export interface Approval {
  id: string
  type: string
  status: string
  requestedByAgentId: string | null
  decisionNote: string | null
}

/** The service said no. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The service's API as this agent. */
export interface Api {
  get<T>(path: string): Promise<T>
  /** @param key makes the request one and the same however often it is sent; by default each call is its own */
  post<T>(path: string, body: unknown, key?: string): Promise<T>
  patch<T>(path: string, body: unknown): Promise<T>
}

/** How often a request is sent, and how long to wait between: a server that is restarted is back by then. */
const TRIES = 12
const WAIT_MS = 500

export function createApi(url: string, token: string): Api {
  const send = async <T>(method: string, path: string, body?: unknown, key?: string): Promise<T> => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const target = new URL(path, url).href
    for (let tries = 1; ; tries++) {
      const answer = await sendHttp(target, request).catch((error: Error) => error)
      if (answer instanceof Error || answer.status >= 500) {
        if (tries === TRIES) throw answer instanceof Error ? answer : refusal(answer)
        await wait(WAIT_MS)
        continue
      }
      if (answer.status >= 400) throw refusal(answer)
      return JSON.parse(answer.text) as T
    }
  }
  return {
    get: (path) => send('GET', path),
    post: (path, body, key = randomUUID()) => send('POST', path, body, key),
    patch: (path, body) => send('PATCH', path, body),
  }
}

function refusal(answer: HttpResponse): Refused {
  try {
    const { error } = JSON.parse(answer.text) as { error: string }
    return new Refused(answer.status, error)
  } catch {
    return new Refused(answer.status, `The service answered ${answer.status}.`)
  }
}
