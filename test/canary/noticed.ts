import { isSecretName } from '../../src/access/redaction/redact.ts'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import type { Place } from '../../src/platform/vault.ts'
import type { Canaries, Kind } from './canaries.ts'

/** Returns the name of a response for a hit, without query and invite token. */
export const answerOf = (method: string, path: string) =>
  `the answer of ${method} ${path.replace(/\?.*/s, '').replace(/(?<=\/invites\/)[^/]+/, ':token')}`

/** Records the credential of a request. */
export function noticeHeaders({ notice }: Canaries, { authorization, cookie }: Record<string, string>): void {
  const bearer = /^Bearer (.*)$/s.exec(authorization ?? '')?.[1]
  if (bearer) notice(kindOf(bearer), bearer)
  if (cookie) noticeCookies(notice, cookie.split(/; */))
}

/** Records the secrets in a body: passwords, stored secrets, `env` and `headers`, and link tokens. */
export function noticeBody({ noticeGiven }: Canaries, path: string, body: unknown): void {
  if (typeof body !== 'string') return
  const parsed = parse(body)
  const stored = (parsed as { value?: unknown } | null)?.value
  if (/\/secrets$|\/rotate$/.test(path) && typeof stored === 'string') noticeGiven('company secret', stored)
  noticeFields(noticeGiven, parsed)
}

type Given = Canaries['noticeGiven']

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return Object.fromEntries(new URLSearchParams(text))
  }
}

/** Deeper bodies are refused (MAX_DEPTH of src/http/body.ts). */
const DEEPEST = 64

const FIELDS: Record<string, Kind> = {
  password: 'password',
  currentPassword: 'password',
  newPassword: 'password',
  token: 'link token',
  claimSecret: 'claim secret',
}

function noticeFields(noticeGiven: Given, value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  for (const [name, inner] of Object.entries(value)) {
    const kind = FIELDS[name]
    if (typeof inner === 'string' && kind) noticeGiven(kind, inner)
    else if (name === 'env' || name === 'headers') noticeStrings(noticeGiven, 'env value', inner)
    else if (name === 'metadata') noticeStrings(noticeGiven, 'metadata secret', inner, isSecretName)
    else noticeFields(noticeGiven, inner, depth + 1)
  }
}

/** The references to secrets: the name of a stored secret, and a value that the server encrypted. */
const REFERENCES = new Set(['$secret', '$sealed'])

/** Records the texts at any depth, or only those with certain names. */
function noticeStrings(
  noticeGiven: Given,
  kind: Kind,
  value: unknown,
  isOne: (name: string) => boolean = () => true,
  depth = 0,
): void {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  for (const [name, inner] of Object.entries(value)) {
    if (REFERENCES.has(name)) continue
    if (typeof inner === 'string' && isOne(name)) noticeGiven(kind, inner)
    else noticeStrings(noticeGiven, kind, inner, isOne, depth + 1)
  }
}

/** Records a value that the server encrypts: of a company, or as JSON of an agent or project (placeOf of src/access/secret/seal.ts). */
export function noticeSealed({ noticeGiven }: Canaries, { name }: Place, value: string): void {
  // The response contains this value once, and is recorded then.
  if (name.startsWith('webhook/')) return
  if (name.includes('/')) noticeStrings(noticeGiven, 'sealed value', { value: JSON.parse(value) })
  else noticeGiven('company secret', value)
}

const SHOWN_ONCE = ALL_ENDPOINTS.filter((endpoint) => endpoint.secret).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}(\\?|$)`),
}))

/** Records the secrets in a response, to search for them in all later data. */
export function noticeAnswer(
  { notice }: Canaries,
  method: string,
  path: string,
  headers: Headers,
  body: unknown,
): void {
  noticeCookies(
    notice,
    headers.getSetCookie().map((cookie) => cookie.split(';')[0]!),
  )
  if (!SHOWN_ONCE.some((one) => one.method === method && one.pattern.test(path))) return
  const { token, claimSecret, secret, url } = (body ?? {}) as Record<string, unknown>
  if (typeof token === 'string') notice(kindOf(token), token)
  if (typeof claimSecret === 'string') notice('claim secret', claimSecret)
  if (typeof secret === 'string') notice('webhook secret', secret)
  if (typeof url === 'string') notice('link token', new URL(url).searchParams.get('token') ?? '')
}

/**
 * Returns the token of a request that its response can contain: the pages and the
 * text of a link contain the token of that link.
 */
export function ownToken(path: string, body: unknown): string {
  const [, invite] = /^\/api\/invites\/([^/?]+)/.exec(path) ?? []
  if (invite) return invite
  if (!/^\/(join|setup|enter|login|reset)\b/.test(path)) return ''
  const form = typeof body === 'string' ? new URLSearchParams(body).get('token') : null
  return form ?? new URL(path, 'http://localhost').searchParams.get('token') ?? ''
}

function noticeCookies(notice: Canaries['notice'], pairs: readonly string[]): void {
  for (const pair of pairs) notice('session', decodeURIComponent(pair.slice(pair.indexOf('=') + 1)))
}

const kindOf = (token: string): Kind => {
  if (token.startsWith('svcb_')) return 'board token'
  if (token.startsWith('svc_')) return 'agent key'
  return token.startsWith('inv_') ? 'link token' : 'bearer token'
}
