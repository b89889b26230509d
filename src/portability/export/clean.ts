import { redact } from '../../access/redaction/redact.ts'
import type { PackageWarning } from '../source/warning.ts'

/**
 * Prepares a text for an export. An empty text becomes null.
 *
 * @param path the file, for warnings
 */
export type Clean = (text: string | null, path: string) => string | null

/** Creates a function that trims a text, normalizes its line ends to `\n` and redacts recognizable secrets. */
export function createCleaner(warnings: PackageWarning[]): Clean {
  return (text, path) => {
    const plain = text?.replaceAll('\r\n', '\n').trim()
    if (!plain) return null
    const redacted = redact({ text: plain }).text as string
    if (redacted !== plain) {
      warnings.push({ code: 'secret', path, message: 'The export removed a value that looks like a secret.' })
    }
    return redacted
  }
}
