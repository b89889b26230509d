import { useSignal } from '@preact/signals'
import chevron from 'lucide-static/icons/chevron-right.svg'
import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Ago } from '../../kit/time.tsx'
import { request } from '../../state/api.ts'
import { may, nameOf } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import type { Issue } from '../../state/types.ts'
import { DocumentText } from './document-text.tsx'

/** The documents of an issue, such as its plan. Each expands to its text and its revisions. */
export function Documents({ issue }: { issue: Issue }) {
  const opened = useSignal<string | undefined>(undefined)
  const query = useQuery(
    `documents/${issue.id}`,
    () => request('GET /api/issues/:issueId/documents', { params: { issueId: issue.id } }),
    ({ data }) => data.entityId === issue.id,
  )
  const list = query.data.value ?? []
  if (list.length === 0) return null
  return (
    <section class="rows" aria-label="Documents">
      <header class="section-head">
        <h3>Documents</h3>
        <span class="num">{list.length}</span>
        {may('member') && (
          <span class="section-end">
            <NewDocumentButton issue={issue} />
          </span>
        )}
      </header>
      {list.map((one) => {
        const isOpen = opened.value === one.key
        return (
          <div key={one.key} class="document">
            <button
              type="button"
              class="document-head"
              aria-expanded={isOpen}
              onClick={() => {
                opened.value = isOpen ? undefined : one.key
              }}
            >
              <span class="fold">
                <Icon svg={chevron} size={14} />
              </span>
              <b class="clip">{one.title ?? one.key}</b>
              <span class="note">
                revision {one.latestRevisionNumber} by{' '}
                {nameOf({ agentId: one.updatedByAgentId, userId: one.updatedByUserId })} <Ago at={one.updatedAt} />
              </span>
            </button>
            {isOpen && <DocumentText issueId={issue.id} summary={one} />}
          </div>
        )
      })}
    </section>
  )
}

export function NewDocumentButton({ issue }: { issue: Issue }) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button
        kind="quiet"
        icon={plus}
        label="New document"
        onClick={() => {
          isOpen.value = true
        }}
      />
      {isOpen.value && (
        <NewDocument
          issue={issue}
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}

/** Converts a title to a key: `Plan of the page` becomes `plan-of-the-page`. */
const keyOf = (title: string) =>
  title
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)

export function NewDocument({ issue, onClose }: { issue: Issue; onClose: () => void }) {
  const title = useSignal('Plan')
  const body = useSignal('')
  return (
    <FormDialog
      title={`New document of ${issue.identifier}`}
      action="Create document"
      width={680}
      onClose={onClose}
      onSubmit={async () => {
        const key = keyOf(title.peek())
        if (key === '') throw new Error('A document needs a title.')
        await request('PUT /api/issues/:issueId/documents/:key', {
          params: { issueId: issue.id, key },
          body: { title: title.peek().trim(), body: body.peek() },
        })
        invalidate(`documents/${issue.id}`)
      }}
    >
      <TextField
        label="Title"
        autoFocus
        isRequired
        hint={`Agents read it as ${keyOf(title.value) || '…'}.`}
        value={title.value}
        onInput={(value) => {
          title.value = value
        }}
      />
      <TextField
        label="Text"
        rows={12}
        placeholder="Markdown"
        value={body.value}
        onInput={(value) => {
          body.value = value
        }}
      />
    </FormDialog>
  )
}
