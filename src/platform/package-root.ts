import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that holds `schema.sql` and `package.json`, above the sources and above the bundle alike. */
export function packageRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url))
  while (!existsSync(path.join(folder, 'schema.sql'))) {
    const above = path.dirname(folder)
    if (above === folder) throw new Error('schema.sql is missing: this installation of service is not whole.')
    folder = above
  }
  return folder
}
