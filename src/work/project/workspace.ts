import path from 'node:path'
import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { WorkspaceTable } from '../../platform/database/tables.ts'

export type WorkspaceRow = Selectable<WorkspaceTable>

/** Whether the issues of a project share its folder, or each has its own git worktree and branch. */
export const ISOLATIONS = ['none', 'worktree'] as const

/** A project's workspace as the API shows it: where its work is done. */
export const Workspace = v.strictObject({
  id: field.id,
  companyId: field.id,
  projectId: field.id,
  name: v.string(),
  cwd: v.nullable(v.string()),
  repoUrl: v.nullable(v.string()),
  repoRef: v.nullable(v.string()),
  isPrimary: v.boolean(),
  isolation: v.picklist(ISOLATIONS),
  setupCommand: v.nullable(v.string()),
  cleanupCommand: v.nullable(v.string()),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Workspace = v.InferOutput<typeof Workspace>

const cwd = v.pipe(
  field.text,
  v.maxLength(4_096, 'must be at most 4,096 characters'),
  v.check(
    (directory) => path.isAbsolute(directory) && !/\p{Cc}/u.test(directory),
    'must be an absolute path, on one line',
  ),
  v.description('The absolute path of the local directory.'),
)

/**
 * Repository URL and ref become arguments of git. A leading dash would be an
 * option, a `file:` or `ext::` address would read files or run programs of the
 * server's machine, and every reader would see a password in an address.
 */
const repoUrl = v.pipe(
  v.string(),
  v.maxLength(2_000, 'must be at most 2,000 characters'),
  v.check(isRepoUrl, 'must be like https://host/path, ssh://git@host/path or git@host:path, without a password'),
)
const repoRef = v.pipe(
  v.string(),
  v.maxLength(250, 'must be at most 250 characters'),
  v.check(isRepoRef, 'must be the name of a branch, a tag or a commit'),
)

const shellCommand = (description: string) =>
  v.optional(
    v.pipe(
      v.nullable(
        v.pipe(
          field.text,
          v.maxLength(4_000, 'must be at most 4,000 characters'),
          v.check((line) => !line.includes('\0'), 'must not contain a NUL character'),
        ),
      ),
      v.description(description),
    ),
  )

const WorkspaceFields = {
  name: v.optional(v.pipe(field.name, v.description('Default: the last part of cwd or repoUrl.'))),
  cwd: v.optional(v.nullable(cwd)),
  repoUrl: v.optional(v.nullable(repoUrl)),
  repoRef: v.optional(v.nullable(repoRef)),
  isPrimary: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Whether this is the primary workspace. A project with workspaces has exactly one, by default the first.',
      ),
    ),
  ),
  isolation: v.optional(
    v.pipe(
      v.picklist(ISOLATIONS),
      v.description(
        'worktree: each issue has its own git worktree and branch (service/<identifier>) from its first run until it is closed. cwd must be in a git repository.',
      ),
    ),
  ),
  setupCommand: shellCommand(
    'A shell command that the first run in a worktree executes before its program, such as `npm ci`. Only the board may set it.',
  ),
  cleanupCommand: shellCommand(
    'A shell command that the server executes before it removes a worktree. Only the board may set it.',
  ),
}

export const NewWorkspace = v.pipe(
  v.strictObject(WorkspaceFields),
  v.check((body) => Boolean(body.cwd ?? body.repoUrl), 'a workspace needs cwd or repoUrl'),
  v.examples([{ cwd: '/srv/project' }]),
)
export type NewWorkspace = v.InferOutput<typeof NewWorkspace>

export const WorkspaceChange = v.strictObject(WorkspaceFields)
export type WorkspaceChange = v.InferOutput<typeof WorkspaceChange>

export const toWorkspace = (row: WorkspaceRow): Workspace => ({
  id: row.id,
  companyId: row.company_id,
  projectId: row.project_id,
  name: row.name,
  cwd: row.cwd,
  repoUrl: row.repo_url,
  repoRef: row.repo_ref,
  isPrimary: row.is_primary === 1,
  isolation: row.isolation,
  setupCommand: row.setup_command,
  cleanupCommand: row.cleanup_command,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Returns the default name of a workspace. */
export function workspaceNameOf(want: NewWorkspace): string {
  const place = (want.cwd ?? want.repoUrl ?? '').replace(/[/\\]+$/, '').replace(/\.git$/, '')
  return (
    place
      .split(/[/\\:]/)
      .at(-1)
      ?.slice(0, 200) || 'workspace'
  )
}

function isRepoUrl(address: string): boolean {
  if (/[\s\p{C}?#\\]/u.test(address)) return false
  if (/^git@[a-z0-9][a-z0-9.-]*:[^-:][^:]*$/i.test(address)) return true
  if (!URL.canParse(address)) return false
  const { protocol, username, password, hostname, pathname } = new URL(address)
  if (password !== '' || pathname.length < 2 || !/^[a-z0-9[]/i.test(hostname)) return false
  // The user in an ssh address is a login name; in an https address it is often a token.
  return protocol === 'ssh:' ? !username.startsWith('-') : protocol === 'https:' && username === ''
}

/** Whether a text is a valid git ref, approximately as in `git check-ref-format`, and not an option. */
function isRepoRef(ref: string): boolean {
  return /^[^\s\p{C}~^:?*[\\]+$/u.test(ref) && !/^[-/.]|\.\.|@\{|\/\/|[/.]$|\.lock$/.test(ref)
}
