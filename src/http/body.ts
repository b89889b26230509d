import type { Context as HonoContext } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { AppError, type FieldError, invalid } from '../platform/errors.ts'

/**
 * Reads a request's body as text, within its limit, chunked or not.
 *
 * @param maxSize in bytes
 * @returns an empty string when there is no body
 */
export async function readBody(c: HonoContext, maxSize: number): Promise<string> {
  const type = c.req.header('content-type')
  const length = c.req.header('content-length')
  const chunked = c.req.header('transfer-encoding') !== undefined
  if (type === undefined && !chunked && (length === undefined || length === '0')) return ''
  if (!/^application\/json *(;|$)/i.test(type ?? '')) {
    throw new AppError('unsupported_media_type', 'Send the body as JSON, with `Content-Type: application/json`.')
  }
  const bytes = await readBytes(c, maxSize)
  try {
    return utf8.decode(bytes)
  } catch {
    throw new AppError('malformed_json', 'The body is not UTF-8.')
  }
}

/**
 * Reads a form as a page without a script sends it: each field once. Pages of
 * other sites could send one too; the gate is what keeps them out.
 */
export async function readForm(c: HonoContext, maxSize: number): Promise<Record<string, string>> {
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw new AppError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.')
  }
  const text = new TextDecoder().decode(await readBytes(c, maxSize))
  const form = Object.fromEntries(new URLSearchParams(text))
  const fault = findFault(form)
  if (fault) throw invalid([fault])
  return form
}

/**
 * Reads a request's body, within its limit, chunked or not.
 *
 * @param maxSize in bytes
 */
export async function readBytes(c: HonoContext, maxSize: number): Promise<ArrayBuffer> {
  if (!/^(identity)?$/i.test(c.req.header('content-encoding') ?? '')) {
    throw new AppError('unsupported_media_type', 'Send the body as it is, without a Content-Encoding.')
  }
  const length = c.req.header('content-length')
  const chunked = c.req.header('transfer-encoding') !== undefined
  const tooLarge = () => new AppError('body_too_large', `The body is larger than ${maxSize} bytes.`)
  // Node's parser holds a body to its Content-Length, so this is enough, and it spares a copy.
  if (!chunked && Number(length) > maxSize) throw tooLarge()
  try {
    if (chunked || length === undefined) {
      const limit = bodyLimit({
        maxSize,
        onError: () => {
          throw tooLarge()
        },
      })
      await limit(c, async () => {})
    }
    return await c.req.arrayBuffer()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('malformed_json', 'The body broke off before its end.')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a body, and refuses what JSON can say but the rest of the program could not carry unharmed. */
export function parseBody(text: string): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    const where = text === '' ? 'The body is empty' : `The body is not JSON (${(error as Error).message})`
    throw new AppError('malformed_json', `${where}. Send a JSON object.`)
  }
  const fault = findFault(body)
  if (fault) throw invalid([fault])
  return body
}

/** How deep a body may nest: far below where recursion over it would overflow the stack. */
const MAX_DEPTH = 64

/** Names that reach an object's prototype when they are used as a key. */
const POISONED_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Finds the first value that would not survive: a number beyond range would
 * come back as null, NUL and lone surrogates cut or change a text.
 */
function findFault(body: unknown): FieldError | undefined {
  const open: { value: unknown; path: string; depth: number }[] = [{ value: body, path: '', depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path, depth } = next
    if (typeof value === 'string' && !isText(value)) return { path, message: 'must be Unicode text without NUL' }
    if (typeof value === 'number' && !Number.isFinite(value)) return { path, message: 'is a number out of range' }
    if (typeof value !== 'object' || value === null) continue
    if (depth === MAX_DEPTH) return { path: path.slice(0, 200), message: `nests deeper than ${MAX_DEPTH} levels` }
    for (const [key, inner] of Object.entries(value)) {
      const at = path === '' ? key : `${path}.${key}`
      if (POISONED_KEYS.has(key) || !isText(key)) return { path: at, message: 'is not a field of this request' }
      if (typeof inner === 'boolean' || inner === null) continue
      open.push({ value: inner, path: at, depth: depth + 1 })
    }
  }
  return undefined
}

const isText = (text: string) => text.isWellFormed() && !text.includes('\0')
