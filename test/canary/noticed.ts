import { isSecretName } from '../../src/agent/redact.ts'
import { ENDPOINTS } from '../../src/http/app.ts'
import type { Canaries, Kind } from './canaries.ts'

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

/** Notices the texts at any depth, or those under some names. A `$secret` is the name of one. */
function noticeStrings(
  noticeGiven: Given,
  kind: Kind,
  value: unknown,
  isOne: (name: string) => boolean = () => true,
  depth = 0,
): void {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'string' && name !== '$secret' && isOne(name)) noticeGiven(kind, inner)
    else noticeStrings(noticeGiven, kind, inner, isOne, depth + 1)
  }
}

const SHOWN_ONCE = ENDPOINTS.filter((endpoint) => endpoint.secret).map(({ method, path }) => ({
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
  const { token, claimSecret, url } = (body ?? {}) as Record<string, unknown>
  if (typeof token === 'string') notice(kindOf(token), token)
  if (typeof claimSecret === 'string') notice('claim secret', claimSecret)
  if (typeof url === 'string') notice('link token', new URL(url).searchParams.get('token') ?? '')
}

/** The request that may be answered with its own token: of the pages and the text behind a link. */
export const ownToken = (path: string, body: unknown): string =>
  /^\/(join|setup|enter|login)\b|^\/api\/invites\//.test(path) ? `${path} ${String(body)}` : ''

function noticeCookies(notice: Canaries['notice'], pairs: readonly string[]): void {
  for (const pair of pairs) notice('session', decodeURIComponent(pair.slice(pair.indexOf('=') + 1)))
}

const kindOf = (token: string): Kind => {
  if (token.startsWith('svcb_')) return 'board token'
  if (token.startsWith('svc_')) return 'agent key'
  return token.startsWith('inv_') ? 'link token' : 'bearer token'
}
