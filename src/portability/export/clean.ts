import { containsSecretUrl } from '../../access/redaction/possible-secret.ts'
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
    if (containsSecretUrl(redacted)) {
      const message =
        'The text contains a URL that may contain a key, such as a hook. Check it before you share the package.'
      warnings.push({ code: 'possible_secret', path, message })
    }
    return redacted
  }
}
