import { isSecretName } from '../../src/access/redaction/redact.ts'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import type { Place } from '../../src/platform/vault.ts'
import type { Canaries, Kind } from './canaries.ts'

/** How a hit names an answer: without what follows the path, where tokens stand, and without an invite's. */
export const answerOf = (method: string, path: string) =>
  `the answer of ${method} ${path.replace(/\?.*/s, '').replace(/(?<=\/invites\/)[^/]+/, ':token')}`

/** Notices the credential that a request comes with. */
export function noticeHeaders({ notice }: Canaries, { authorization, cookie }: Record<string, string>): void {
  const bearer = /^Bearer (.*)$/s.exec(authorization ?? '')?.[1]
  if (bearer) notice(kindOf(bearer), bearer)
  if (cookie) noticeCookies(notice, cookie.split(/; */))
}

/** Notices what a body holds: passwords, stored secrets, `env` and `headers`, and the tokens of links. */
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

/** What stands for a secret: the name of a stored one, and a value that the server sealed. */
const REFERENCES = new Set(['$secret', '$sealed'])

/** Notices the texts at any depth, or those under some names. */
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

/** Notices a value that the server seals: a company's, or as JSON one of an agent's or project's (placeOf of src/access/secret/seal.ts). */
export function noticeSealed({ noticeGiven }: Canaries, { name }: Place, value: string): void {
  // Its response shows it once, and is noticed then.
  if (name.startsWith('webhook/')) return
  if (name.includes('/')) noticeStrings(noticeGiven, 'sealed value', { value: JSON.parse(value) })
  else noticeGiven('company secret', value)
}

const SHOWN_ONCE = ALL_ENDPOINTS.filter((endpoint) => endpoint.secret).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}(\\?|$)`),
}))

/** Notices what an answer gives: to be searched for in all that comes after it. */
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
 * The token that a request names and may be answered with: the pages and the
 * text behind a link show their own again, whatever was put there for it.
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
