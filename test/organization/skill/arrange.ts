import { zipSync } from 'fflate'
import type { TestApp } from '../../helpers.ts'

/** Returns a short SKILL.md. */
export const skillText = (name: string, description = `Does ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`

/** Imports files as the board and returns the response body. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
export const importFiles = (app: TestApp, companyId: string, files: Record<string, unknown>): Promise<any> =>
  app.make('POST', `/api/companies/${companyId}/skills/import`, { files })

/** Creates a zip archive in the format of GitHub. Content that starts with `-> ` is a symbolic link. */
export const repositoryZip = (files: Record<string, string | Uint8Array>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([path, content]) => {
        const isLink = typeof content === 'string' && content.startsWith('-> ')
        const bytes = new Uint8Array(Buffer.from(isLink ? content.slice(3) : content))
        return [`repo-1234/${path}`, [bytes, { os: 3, attrs: (isLink ? 0o120777 : 0o100644) << 16 }]]
      }),
    ),
  )
