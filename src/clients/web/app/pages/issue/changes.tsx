import { useSignal } from '@preact/signals'
import chevron from 'lucide-static/icons/chevron-right.svg'
import copy from 'lucide-static/icons/copy.svg'
import branchIcon from 'lucide-static/icons/git-branch.svg'
import { useMemo } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { DiffLines } from '../../kit/diff.tsx'
import { number, plural } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { filesOfPatch, linesOfPatch } from '../../kit/patch.ts'
import { Failure, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { type Received, request } from '../../state/api.ts'
import { projects, runs } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Issue } from '../../state/types.ts'

type Found = Received<'GET /api/issues/:issueId/changes'>
type ChangedFile = Found['files'][number]

/** The maximum size of the loaded patch, in bytes. All files are listed. */
const MAX_PATCH = 400_000

/** The maximum number of lines of a patch that is expanded by default. */
const OPEN_LINES = 40

/** Whether the runs of an issue work in a separate git worktree. */
export const hasWorktree = (issue: Issue | undefined) =>
  projects.get(issue?.projectId)?.workspaces.some(({ isolation }) => isolation === 'worktree') ?? false

/** The changes of an issue's runs in its worktree: branch, commits, and the patch of each file. */
export function Changes({ issue, isAlone = false }: { issue: Issue; isAlone?: boolean }) {
  const isKnown = hasWorktree(issue)
  const query = useQuery(
    isKnown ? `changes/${issue.id}` : undefined,
    () =>
      request('GET /api/issues/:issueId/changes', {
        params: { issueId: issue.id },
        query: { maxPatchBytes: MAX_PATCH },
      }),
    ({ type, data }) => {
      const run = runs.row(data.entityId ?? '').peek()
      return type === 'run.finished' && (!run || run.issueId === issue.id)
    },
  )
  const found = query.data.value
  if (query.error.value && !found) return <Failure error={query.error.value} onRetry={() => void query.reload()} />
  if (!found) return isAlone && query.isSlow.value ? <Skeleton rows={8} height={28} /> : null
  if (found.branch === null && found.filesChanged === 0) {
    return isAlone ? <p class="note">No run of this issue has changed a file yet.</p> : null
  }
  return (
    <section class="rows changes" aria-label="Changes">
      <header class="section-head">
        <h3>Changes</h3>
        {found.filesChanged > 0 && (
          <span class="num">
            <span class="plus">+{number(found.insertions)}</span> <span class="minus">−{number(found.deletions)}</span>{' '}
            in {plural(found.filesChanged, 'file')}
          </span>
        )}
        {found.hasUncommitted && <span class="tag">uncommitted changes</span>}
        <span class="section-end">{found.branch && <Branch name={found.branch} />}</span>
      </header>
      {found.filesChanged === 0 && <p class="note">This branch has no changes.</p>}
      <Commits found={found} />
      <Files found={found} />
      {found.isCut && <p class="note">Some changes are not displayed. The branch contains all of them.</p>}
    </section>
  )
}

function Branch({ name }: { name: string }) {
  return (
    <>
      <span class="branch mono" title={name}>
        <Icon svg={branchIcon} size={14} />
        <span class="clip">{name}</span>
      </span>
      <Button
        kind="quiet"
        icon={copy}
        label="Copy the name of the branch"
        onClick={() => void navigator.clipboard.writeText(name).then(() => toast(`${name} was copied.`))}
      />
    </>
  )
}

function Commits({ found: { commits } }: { found: Found }) {
  if (commits.length === 0) return null
  return (
    <ul class="lines commits" aria-label="Commits">
      {commits.map(({ hash, subject, author, committedAt }) => (
        <li key={hash}>
          <code class="id">{hash.slice(0, 7)}</code>
          <span class="clip" title={subject}>
            {subject}
          </span>
          <span class="when">
            {author} <Ago at={committedAt} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function Files({ found: { files, patch } }: { found: Found }) {
  const parts = useMemo(() => filesOfPatch(patch), [patch])
  const patches = [...parts.values()]
  return (
    <>
      {files.map((file, index) => (
        // Git lists a renamed file with both names.
        <File key={file.path} file={file} patch={parts.get(file.path) ?? patches[index]} isFirst={index === 0} />
      ))}
    </>
  )
}

function File({ file, patch, isFirst }: { file: ChangedFile; patch: string | undefined; isFirst: boolean }) {
  const lines = (file.insertions ?? 0) + (file.deletions ?? 0)
  const isOpen = useSignal(isFirst && lines <= OPEN_LINES)
  return (
    <div class="document">
      <button
        type="button"
        class="document-head"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        <span class="fold">
          <Icon svg={chevron} size={14} />
        </span>
        <span class="mono clip">{file.path}</span>
        <span class="num">
          {file.insertions === null ? (
            'binary'
          ) : (
            <>
              <span class="plus">+{number(file.insertions)}</span>{' '}
              <span class="minus">−{number(file.deletions ?? 0)}</span>
            </>
          )}
        </span>
      </button>
      {isOpen.value &&
        (patch && file.insertions !== null ? (
          <div class="change-lines">
            <DiffLines lines={linesOfPatch(patch)} />
          </div>
        ) : (
          <p class="note change-none">
            {file.insertions === null ? 'A binary file has no lines to show.' : 'Its lines are not displayed.'}
          </p>
        ))}
    </div>
  )
}
