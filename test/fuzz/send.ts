import assert from 'node:assert/strict'
import * as v from 'valibot'
import type { Endpoint } from '../../src/http/route.ts'
import { methodFor } from '../contract/requests.ts'
import type { SendRequest } from '../helpers.ts'
import type { Sent } from './break.ts'
import type { Draft } from './request.ts'
import { Reference } from './schema.ts'

/** The ids from responses. */
export interface Known {
  /** The ids, by the parameter that takes them. */
  ids: Map<string, string[]>
  /** The path parameters under which an id was seen, such as the issue of a comment. */
  places: Map<string, Record<string, string>>
}

/** The maximum number of stored ids per kind. */
const KEPT = 200

export function learn({ ids }: Known, name: string, id: unknown): void {
  if (typeof id !== 'string' || id === '' || id.length > 100) return
  const known = ids.get(name) ?? []
  ids.set(name, known)
  if (known.includes(id)) return
  if (known.length >= KEPT) known.shift()
  known.push(id)
}

/** A request with resolved references. `isValid` says whether its schemas accept it. */
export interface Request {
  method: string
  path: string
  body: string | FormData | undefined
  headers: Record<string, string>
  isValid: boolean
  params: Record<string, string>
}

/** Converts a draft to a request. */
export function toRequest({ endpoint, params, query, body, spoilt, idempotencyKey }: Draft, known: Known): Request {
  const filled = placed(resolve(params, known) as Record<string, string>, known)
  const path = endpoint.path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(wellFormed(filled[name]!)))
  const requested = stringValues(resolve(query, known))
  const search = Object.keys(requested).length > 0 ? `?${new URLSearchParams(requested)}` : ''
  // Encode and parse the query, as the server receives it.
  const received = Object.fromEntries(new URLSearchParams(search))
  const isQueryValid = !endpoint.query || v.safeParse(endpoint.query, received).success
  const content = contentOf(endpoint, body, spoilt, known)
  return {
    method: methodFor(endpoint.method, endpoint.path),
    path: `${path}${search}`,
    body: content.body,
    headers: {
      ...(idempotencyKey !== undefined && { 'idempotency-key': encodeURIComponent(idempotencyKey) }),
      ...(endpoint.form && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    isValid: isQueryValid && content.isValid,
    params: filled,
  }
}

/** Replaces the other path parameters by those under which the last id was seen. */
const placed = (params: Record<string, string>, { places }: Known): Record<string, string> => {
  const place = places.get(Object.values(params).at(-1) ?? '')
  return place ? { ...params, ...Object.fromEntries(Object.entries(place).filter(([name]) => name in params)) } : params
}

function contentOf(endpoint: Endpoint, body: unknown, spoilt: Draft['spoilt'], known: Known) {
  if (endpoint.method === 'GET') return { body: undefined, isValid: true }
  if (endpoint.upload) return uploadOf(spoilt !== undefined)
  const resolved = JSON.parse(JSON.stringify(resolve(body, known)) ?? '{}')
  if (endpoint.form) return { body: new URLSearchParams(stringValues(resolved)).toString(), isValid: true }
  const sent: Sent = spoilt ? spoilt.spoil(resolved, spoilt.at) : { value: resolved }
  const text = 'text' in sent ? sent.text : JSON.stringify(sent.value)
  return { body: text, isValid: isAccepted(endpoint, text) && spoilt?.kind !== 'unknown field' }
}

/** Reports whether the schema of an endpoint accepts a body. */
function isAccepted(endpoint: Endpoint, text: string): boolean {
  if (text === '') return endpoint.bodyOptional === true || !endpoint.body
  try {
    const schema = endpoint.body ?? v.strictObject({})
    // The server ignores a byte order mark, as RFC 8259 allows.
    return (
      v.safeParse(schema, JSON.parse(text.replace(/^\ufeff/, ''))).success &&
      !/"(__proto__|constructor|prototype)":/.test(text)
    )
  } catch {
    return false
  }
}

function uploadOf(isSpoilt: boolean) {
  const form = new FormData()
  const name = isSpoilt ? 'fil' : 'file'
  form.set(name, new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], 'a\u202e"é\r\n🦭.svg'))
  return { body: form, isValid: !isSpoilt }
}

function resolve(value: unknown, known: Known): unknown {
  if (value instanceof Reference) {
    const ids = known.ids.get(value.name) ?? []
    return ids[Math.floor(value.at * ids.length)] ?? 'unknown'
  }
  if (Array.isArray(value)) return value.map((item) => resolve(item, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, known)]))
}

const stringValues = (value: unknown) =>
  Object.fromEntries(
    Object.entries(value as object)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [key, wellFormed(String(inner))]),
  )

const wellFormed = (text: string) => String(text).toWellFormed()

/**
 * Sends a request. `ask` fails on a 5xx and on a response that its
 * schema does not declare. This function fails if an invalid request is accepted.
 *
 * @returns the status
 */
export async function send(ask: SendRequest, endpoint: Endpoint, request: Request, known: Known): Promise<number> {
  const { method, path, body, headers, isValid } = request
  const response = await ask(method, path, body, headers)
  if (!isValid) assert.ok(response.status >= 400, `${method} ${path} took what its schema refuses: ${String(body)}`)
  if (response.status < 300) learnIds(known, endpoint, request.params, response.body)
  return response.status
}

/** The parameter that takes the ids of a response, by endpoint id or its noun. */
const PARAM_OF: Record<string, string | null> = {
  'agents.createKey': 'keyId',
  'agents.invoke': null,
  'agents.listKeys': 'keyId',
  'agents.listRevisions': 'revisionId',
  'agents.wakeup': null,
  'approvals.comment': null,
  'approvals.comments': null,
  'approvals.issues': 'issueId',
  'documents.revisions': 'revisionId',
  'issues.activity': null,
  'issues.approvals': 'approvalId',
  'issues.attach': 'attachmentId',
  'issues.attachments': 'attachmentId',
  'issues.linkApproval': 'approvalId',
  'issues.unlinkApproval': null,
  agents: 'agentId',
  approvals: 'approvalId',
  attachments: 'attachmentId',
  comments: 'commentId',
  companies: 'companyId',
  goals: 'goalId',
  invitations: 'invitationId',
  invites: 'inviteId',
  heartbeatRuns: 'runId',
  issues: 'issueId',
  labels: 'labelId',
  secrets: 'secretId',
  webhooks: 'webhookId',
  projects: 'projectId',
  runs: 'runId',
  routines: 'routineId',
  skills: 'skillId',
  tokens: 'tokenId',
  workspaces: 'workspaceId',
}

/** Stores the ids in a response: its own id and the ids that it references. */
export function learnIds(
  known: Known,
  { id: endpointId }: Endpoint,
  params: Record<string, string>,
  body: unknown,
): void {
  const name = endpointId in PARAM_OF ? PARAM_OF[endpointId] : PARAM_OF[endpointId.split('.')[0]!]
  // The response of a hire contains an agent, and that of an import the imported objects.
  const displayed =
    (body as { imported?: unknown; agent?: unknown })?.imported ?? (body as { agent?: unknown })?.agent ?? body
  for (const item of Array.isArray(displayed) ? displayed.slice(0, 20) : [displayed]) {
    if (typeof item !== 'object' || item === null) continue
    if (name) learn(known, name, item.id)
    if (name && !(name in params) && typeof item.id === 'string') known.places.set(item.id, params)
    if (name === 'issueId') learn(known, name, item.identifier)
    for (const key of ['key', 'token', 'claimSecret']) learn(known, key, item[key])
    if (endpointId === 'invitations.create') learn(known, 'linkToken', new URL(item.url).searchParams.get('token'))
    for (const [key, value] of Object.entries(item)) if (key.endsWith('Id')) learn(known, key, value)
  }
}
