import * as v from 'valibot'

/** A file in a JSON body: its text, or its bytes in base64. */
export const FileContent = v.union(
  [v.string(), v.strictObject({ encoding: v.literal('base64'), data: v.pipe(v.string(), v.base64('must be base64')) })],
  'must be a text or { "encoding": "base64", "data" }',
)
export type FileContent = v.InferOutput<typeof FileContent>

export const decodeFileContent = (content: FileContent): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.data, 'base64')
