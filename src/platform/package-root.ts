import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Returns the folder of `schema.sql` and `package.json`, which is above the sources and above the bundle. */
export function packageRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url))
  while (!existsSync(path.join(folder, 'schema.sql'))) {
    const above = path.dirname(folder)
    if (above === folder) throw new Error('schema.sql is missing: this installation of service is not whole.')
    folder = above
  }
  return folder
}
