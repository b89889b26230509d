import { zipSync } from 'fflate'
import type { TestApp } from '../../helpers.ts'

/** A SKILL.md of a few words. */
export const skillText = (name: string, description = `Does ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`

/** Imports files as the board and returns the answer's body. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
export const importFiles = (app: TestApp, companyId: string, files: Record<string, unknown>): Promise<any> =>
  app.make('POST', `/api/companies/${companyId}/skills/import`, { files })

/** A zip archive as GitHub makes it; a text that begins with `-> ` is a symbolic link. */
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
