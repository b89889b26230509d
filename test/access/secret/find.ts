import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Returns the encodings of a value, including base64 at each of the three offsets in a longer text. */
export const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString('hex'),
  ...[0, 1, 2].flatMap((before) => {
    const bytes = Buffer.from('-'.repeat(before) + value)
    // Only complete groups: the surrounding text changes the first and the last group.
    const [from, to] = [before === 0 ? 0 : 4, Math.floor(bytes.length / 3) * 4]
    return [bytes.toString('base64').slice(from, to), bytes.toString('base64url').slice(from, to)]
  }),
]

/** Returns the files of a folder that contain a value in some encoding. */
export function filesWith(folder: string, value: string): string[] {
  const forms = formsOf(value)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => {
      const content = readFileSync(file, 'latin1')
      return forms.some((form) => content.includes(form))
    })
}
