import { hash } from 'node:crypto'
import { MIMEType } from 'node:util'
import type { Context as HonoContext } from 'hono'
import * as v from 'valibot'
import { AppError, invalid } from '../platform/errors.ts'
import { readBytes } from './body.ts'

/** The body of a route with `upload: true`: the field named `file`, and the other fields as text. */
export const Upload = v.strictObject({
  file: v.instance(File, 'must be a file'),
  fields: v.record(v.string(), v.string()),
})
export type Upload = v.InferOutput<typeof Upload>

/** The maximum size of a form without its file, in bytes. */
export const FORM_OVERHEAD = 64 * 1024

/**
 * Reads a multipart form, with or without `Content-Length`.
 *
 * @param maxSize of the whole body, in bytes
 * @returns the form, not yet validated, and a digest that identifies the body
 * @throws AppError 413
 */
export async function readUpload(c: HonoContext, maxSize: number): Promise<{ form: unknown; digest: string }> {
  const type = c.req.header('content-type') ?? ''
  if (!/^multipart\/form-data *;/i.test(type)) {
    throw new AppError('unsupported_media_type', 'Send the file as multipart/form-data, in a field named `file`.')
  }
  const bytes = await readBytes(c, maxSize)
  const form = await parseForm(bytes, type)
  const file = form.get('file')
  const others = [...form].filter(([name, value]) => name !== 'file' && typeof value === 'string')
  return {
    form: { ...(file !== null && { file }), fields: Object.fromEntries(others) },
    digest: hash('sha256', new Uint8Array(bytes)),
  }
}

/** The maximum number of parts in a form. Parsing 50,000 parts takes 0.4 s. */
const MAX_PARTS = 100

async function parseForm(bytes: ArrayBuffer, type: string): Promise<FormData> {
  if (hasTooManyParts(Buffer.from(bytes), type))
    throw invalid([{ path: '', message: `the form has more than ${MAX_PARTS} parts` }])
  try {
    return await new Response(bytes, { headers: { 'content-type': type } }).formData()
  } catch {
    throw new AppError(
      'validation_failed',
      'The body is not a complete multipart form. Send the file in the field `file`.',
    )
  }
}

/** Counts the separators of the parts, without parsing them. */
function hasTooManyParts(bytes: Buffer, type: string): boolean {
  // The parser of the form reads the content type by the same rules. Without a boundary it refuses the form.
  const boundary = boundaryOf(type)
  if (boundary === undefined) return false
  const separator = `--${boundary}`
  let at = -1
  for (let count = 0; count <= MAX_PARTS + 1; count++) {
    at = bytes.indexOf(separator, at + 1)
    if (at < 0) return false
  }
  return true
}

function boundaryOf(type: string): string | undefined {
  try {
    return new MIMEType(type).params.get('boundary') ?? undefined
  } catch {
    return undefined
  }
}
