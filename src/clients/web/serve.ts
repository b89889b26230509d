import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Handler, HttpRequest, HttpResponse } from '../../http/handler.ts'
import { fetchFrom } from '../../http/in-process.ts'
import type { Context } from '../../platform/context.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { bootRecord } from './boot.ts'

/** Returns the folder of the built page, or undefined if it is not built. */
export function findWebFolder(): string | undefined {
  const folder = path.join(packageRoot(), 'dist', 'web')
  return existsSync(path.join(folder, 'index.html')) ? folder : undefined
}

/**
 * Serves the built page and its assets, and passes every other request on.
 * The page's own addresses are `/`, `/welcome` and `/<issue prefix>/...`; the
 * prefix is in upper case, so none of them is an address of the API.
 */
export function withPage(ctx: Pick<Context, 'events'>, folder: string, next: Handler): Handler {
  const files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  const read = (name: string) => {
    const known = files.get(name)
    if (known) return known
    const file = readFile(path.join(folder, name))
    files.set(name, file)
    file.catch(() => files.delete(name))
    return file
  }
  const template = createTemplate(folder)
  const send = fetchFrom(next)
  return async (request) => {
    const { method, path: pathname } = request
    const isAsset = ASSET.test(pathname)
    if ((method !== 'GET' && method !== 'HEAD') || (!isAsset && !PAGE.test(pathname))) return next(request)
    const get = (target: string) => send(target, { headers: passedOn(request) }, request)
    const response = isAsset
      ? await asset(read, pathname.slice(1), request)
      : await page({ events: ctx.events, template: await template(), request, get })
    return response ?? next(request)
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

/** Returns an asset. Assets never change, because their names contain their hash. */
async function asset(read: Read, name: string, { header }: HttpRequest): Promise<HttpResponse | undefined> {
  const accepted = header('accept-encoding') ?? ''
  const encoding = ['br', 'gzip'].find((one) => accepted.includes(one))
  const suffix = encoding === undefined ? '' : encoding === 'br' ? '.br' : '.gz'
  const body = await read(`${name}${suffix}`).catch(() => undefined)
  if (!body) return undefined
  const headers = {
    'content-type': TYPES[path.extname(name).slice(1)]!,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
    ...(encoding && { 'content-encoding': encoding }),
  }
  return { status: 200, headers, body }
}

interface Template {
  html: string
  /** Each page by its address below a company's, with its files. */
  pages: { address: string; pattern: RegExp; files: string[] }[]
}

/** Creates a function that returns the page's HTML. It reads the file again after a build, which renames the assets. */
function createTemplate(folder: string): () => Promise<Template | undefined> {
  let builtAt = 0
  let template: Template | undefined
  return async () => {
    const file = path.join(folder, 'index.html')
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }))
    if (mtimeMs === 0) return undefined
    if (mtimeMs !== builtAt || !template) {
      const [html, manifest] = await Promise.all([
        readFile(file, 'utf8'),
        readFile(path.join(folder, 'manifest.json'), 'utf8').catch(() => '{}'),
      ])
      const { pages = {} }: { pages?: Record<string, string[]> } = JSON.parse(manifest)
      template = {
        html,
        pages: Object.entries(pages).map(([address, files]) => ({ address, pattern: toPattern(address), files })),
      }
      builtAt = mtimeMs
    }
    return template
  }
}

/** Converts `issues/:issueRef` to an expression that matches `/TER/issues/TER-6`. */
const toPattern = (address: string) =>
  new RegExp(`^/[A-Z][A-Z0-9]*/${address.replaceAll(/:(\w+)/g, '(?<$1>[\\w.-]+)')}$`)

/** Returns the headers that authenticate the person who opens the page. */
const passedOn = ({ header }: HttpRequest) => {
  const [cookie, host] = [header('cookie'), header('host')]
  return { ...(cookie !== undefined && { cookie }), ...(host !== undefined && { host }) }
}

interface PageRequest extends Pick<Context, 'events'> {
  template: Template | undefined
  request: HttpRequest
  get: (target: string) => Promise<Response>
}

/**
 * Returns the page with its first data and the id of the latest event that they
 * include. The page's event stream starts there and misses no event.
 */
async function page({ events, template, request, get }: PageRequest): Promise<HttpResponse | undefined> {
  if (!template) return undefined
  const pathname = request.path
  const eventId = String(events.last)
  const prefix = /^\/([A-Z][A-Z0-9]*)(?:\/|$)/.exec(pathname)?.[1]
  const [opened] = template.pages.flatMap(({ address, pattern, files }) => {
    const match = pattern.exec(pathname)
    return match ? { address, files, params: { ...match.groups } } : []
  })
  const boot = await bootRecord({ prefix, page: opened, query: new URLSearchParams(request.search) }, get)
  const files = opened?.files ?? []
  const html = template.html
    .replace('{{eventId}}', eventId)
    .replace('{{page}}', files.map((file) => `<link rel="modulepreload" href="${file}">`).join('\n'))
    .replace('"{{boot}}"', () => boot)
  const etag = `"${createHash('sha1').update(html).digest('base64url')}"`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'private, no-cache',
    'content-security-policy': POLICY,
    'referrer-policy': 'same-origin',
    etag,
  }
  const isKnown = request.header('if-none-match') === etag
  return isKnown ? { status: 304, headers, body: null } : { status: 200, headers, body: html }
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
