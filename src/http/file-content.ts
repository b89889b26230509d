import * as v from 'valibot'

/**
 * Bytes in base64. The pattern has no group that repeats: V8 matches such a group
 * recursively, and its stack overflows for a file of some megabytes.
 */
const Base64 = v.pipe(
  v.string(),
  v.check((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text), 'must be base64'),
)

/** A file in a JSON body: its text, or its bytes in base64. */
export const FileContent = v.union(
  [v.string(), v.strictObject({ encoding: v.literal('base64'), data: Base64 })],
  'must be a text or { "encoding": "base64", "data" }',
)
export type FileContent = v.InferOutput<typeof FileContent>

export const decodeFileContent = (content: FileContent): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.data, 'base64')
