import { hash } from 'node:crypto'
import type { Context as HonoContext } from 'hono'
import * as v from 'valibot'
import { AppError } from '../platform/errors.ts'
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

async function parseForm(bytes: ArrayBuffer, type: string): Promise<FormData> {
  try {
    return await new Response(bytes, { headers: { 'content-type': type } }).formData()
  } catch {
    throw new AppError(
      'validation_failed',
      'The body is not a complete multipart form. Send the file in the field `file`.',
    )
  }
}
