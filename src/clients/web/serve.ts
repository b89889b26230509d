import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import { packageRoot } from '../../platform/package-root.ts'

/** The folder of the built page, or undefined when the page is not built. */
export function findWebFolder(): string | undefined {
  const folder = path.join(packageRoot(), 'dist', 'web')
  return existsSync(path.join(folder, 'index.html')) ? folder : undefined
}

type Fetch<Env> = (request: Request, env: Env) => Response | Promise<Response>

/**
 * Serves the built page and its assets, and passes every other request on.
 * The page's own addresses are `/`, `/welcome` and `/<issue prefix>/...`; the
 * prefix is in upper case, so none of them is an address of the API.
 */
export function withPage<Env>(ctx: Pick<Context, 'events'>, folder: string, next: Fetch<Env>): Fetch<Env> {
  const files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  const read = (name: string) => {
    const known = files.get(name)
    if (known) return known
    const file = readFile(path.join(folder, name))
    files.set(name, file)
    file.catch(() => files.delete(name))
    return file
  }
  return async (request, env) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next(request, env)
    const { pathname } = new URL(request.url)
    const isAsset = ASSET.test(pathname)
    if (!isAsset && !PAGE.test(pathname)) return next(request, env)
    const response = isAsset ? await asset(read, pathname.slice(1), request) : await page(ctx, read, request)
    if (!response) return next(request, env)
    return request.method === 'HEAD' ? new Response(null, response) : response
  }
}

const ASSET = /^\/assets\/[\w-]+\.(js|css|svg)$/
const PAGE = /^\/(welcome)?$|^\/[A-Z][A-Z0-9]*(\/[^/]*)*$/

type Read = (name: string) => Promise<Uint8Array<ArrayBuffer>>

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** An asset never changes: its name holds its hash. */
async function asset(read: Read, name: string, request: Request): Promise<Response | undefined> {
  const accepted = request.headers.get('accept-encoding') ?? ''
  const encoding = ['br', 'gzip'].find((one) => accepted.includes(one))
  const suffix = encoding === undefined ? '' : encoding === 'br' ? '.br' : '.gz'
  const body = await read(`${name}${suffix}`).catch(() => undefined)
  if (!body) return undefined
  return new Response(body, {
    headers: {
      'content-type': TYPES[path.extname(name).slice(1)]!,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
    },
  })
}

/** The page says up to which event the server is, so that its stream misses nothing that comes after it. */
async function page({ events }: Pick<Context, 'events'>, read: Read, request: Request): Promise<Response | undefined> {
  const template = await read('index.html').catch(() => undefined)
  if (!template) return undefined
  const html = new TextDecoder().decode(template).replace('{{eventId}}', String(events.last))
  const etag = `"${createHash('sha1').update(html).digest('base64url')}"`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'private, no-cache',
    'content-security-policy': POLICY,
    'referrer-policy': 'same-origin',
    etag,
  }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(html, { headers })
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
