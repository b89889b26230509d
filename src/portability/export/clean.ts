import { containsSecretUrl, mayContainSecret } from '../../access/redaction/possible-secret.ts'
import { redact } from '../../access/redaction/redact.ts'
import { isMapping, type Yaml } from '../../platform/source/yaml.ts'
import { namesLocalPath } from '../read/adapter.ts'
import type { Kept } from '../read/package.ts'
import type { PackageWarning } from '../source/warning.ts'

/** Prepares parts of an export. `path` is the file, for warnings. */
export interface Cleaner {
  /** Trims a text, normalizes its line ends to `\n` and redacts recognizable secrets. An empty text becomes null. */
  clean(text: string | null, path: string): string | null
  /** Removes the fields that may contain a secret. */
  cleanKept(stored: Kept, path: string): Kept
  cleanFields(fields: Yaml, path: string): Yaml
}

export function createCleaner(warnings: PackageWarning[]): Cleaner {
  const cleanFields = (fields: Yaml, path: string): Yaml =>
    Object.fromEntries(
      Object.entries(fields).filter(([key, value]) => {
        const isSecret = key === 'requirements' ? !namesOnly(value) : mayBeSecret({ [key]: value })
        if (!isSecret && !namesLocalPath(value)) return true
        const why = isSecret ? 'may contain a secret' : 'names a path of this machine'
        const message = `The field ${key} ${why} and is not exported.`
        warnings.push({ code: 'left_out', path, message })
        return false
      }),
    )
  return {
    clean(text, path) {
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
    },
    cleanKept: ({ matter, sidecar }, path) => ({
      matter: cleanFields(matter, path),
      sidecar: cleanFields(sidecar, path),
    }),
    cleanFields,
  }
}

const mayBeSecret = (fields: Yaml) =>
  JSON.stringify(redact(fields)) !== JSON.stringify(fields) || mayContainSecret(fields)

/** Whether `requirements` contains only names of secrets, and no other field that may be one. */
function namesOnly(requirements: unknown): boolean {
  if (!isMapping(requirements)) return !mayBeSecret({ requirements })
  const { secrets, ...others } = requirements
  const names = Array.isArray(secrets) ? secrets : []
  const isName = (name: unknown): boolean =>
    typeof name === 'string'
      ? /^[A-Z][A-Z0-9_]*$/.test(name)
      : isMapping(name) && isName(name.name ?? name.key) && !('value' in name)
  return names.every(isName) && !mayBeSecret({ others })
}
