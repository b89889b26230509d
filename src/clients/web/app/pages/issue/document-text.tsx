import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { Diff } from '../../kit/diff.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { reasonOf } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { may, nameOf } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'

type DocumentSummary = Received<'GET /api/issues/:issueId/documents'>[number]
type Document = Received<'GET /api/issues/:issueId/documents/:key'>

/** A document: its text, which can be edited, and the changes of each revision. */
export function DocumentText({ issueId, summary }: { issueId: string; summary: DocumentSummary }) {
  const { key, latestRevisionId } = summary
  const mode = useSignal<'read' | 'edit' | 'history'>('read')
  const query = useQuery(`document/${issueId}/${key}/${latestRevisionId}`, () =>
    request('GET /api/issues/:issueId/documents/:key', { params: { issueId, key } }),
  )
  const show = (next: typeof mode.value) => () => {
    mode.value = next
  }
  return (
    <div class="document-body">
      <Loaded query={query} skeleton={<Skeleton rows={4} height={24} />}>
        {(document) =>
          mode.value === 'edit' ? (
            <Editor issueId={issueId} document={document} onClose={show('read')} />
          ) : (
            <>
              {mode.value === 'history' ? (
                <History issueId={issueId} summary={summary} />
              ) : (
                <Markdown text={document.body} />
              )}
              <div class="document-acts">
                {may('member') && <Button onClick={show('edit')}>Edit</Button>}
                {mode.value === 'history' ? (
                  <Button kind="quiet" onClick={show('read')}>
                    Show the text
                  </Button>
                ) : (
                  summary.latestRevisionNumber > 1 && (
                    <Button kind="quiet" onClick={show('history')}>
                      Show the revisions
                    </Button>
                  )
                )}
              </div>
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function Editor({ issueId, document, onClose }: { issueId: string; document: Document; onClose: () => void }) {
  const text = useSignal(document.body)
  const error = useSignal<string | undefined>(undefined)
  const save = async () => {
    try {
      await request('PUT /api/issues/:issueId/documents/:key', {
        params: { issueId, key: document.key },
        body: { body: text.peek(), baseRevisionId: document.latestRevisionId },
      })
      invalidate(`documents/${issueId}`)
      toast(`${document.title ?? document.key} was saved.`)
      onClose()
    } catch (thrown) {
      error.value = reasonOf(thrown)
    }
  }
  return (
    <>
      <textarea
        aria-label={document.title ?? document.key}
        rows={Math.min(28, Math.max(10, text.value.split('\n').length + 1))}
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && void save()}
      />
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
      <div class="form-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" hint="Ctrl ↵" onClick={() => void save()}>
          Save a revision
        </Button>
      </div>
    </>
  )
}

/** The revisions, newest first. Each expands to its changes. */
function History({ issueId, summary }: { issueId: string; summary: DocumentSummary }) {
  const { key, latestRevisionId } = summary
  const params = { issueId, key }
  const opened = useSignal<number | undefined>(summary.latestRevisionNumber)
  const query = useQuery(`revisions/${issueId}/${key}/${latestRevisionId}`, () =>
    request('GET /api/issues/:issueId/documents/:key/revisions', { params, query: { limit: 50 } }),
  )
  return (
    <Loaded query={query} skeleton={<Skeleton rows={3} />}>
      {(list) => (
        <ul class="lines document-revisions">
          {list.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                aria-expanded={opened.value === one.revisionNumber}
                onClick={() => {
                  opened.value = opened.value === one.revisionNumber ? undefined : one.revisionNumber
                }}
              >
                <b>Revision {one.revisionNumber}</b>{' '}
                <span class="note">
                  {nameOf({ agentId: one.createdByAgentId, userId: one.createdByUserId })} · <Ago at={one.createdAt} />
                  {one.changeSummary && ` · ${one.changeSummary}`}
                </span>
              </button>
              {opened.value === one.revisionNumber && <Change params={params} number={one.revisionNumber} />}
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  )
}

function Change({ params, number }: { params: { issueId: string; key: string }; number: number }) {
  const load = async (revision: number) =>
    revision === 0
      ? ''
      : (
          await request('GET /api/issues/:issueId/documents/:key/revisions/:revisionId', {
            params: { ...params, revisionId: String(revision) },
          })
        ).body
  const query = useQuery(`revision/${params.issueId}/${params.key}/${number}`, async () => {
    const [before, after] = await Promise.all([load(number - 1), load(number)])
    return { before, after }
  })
  return <Loaded query={query}>{(texts) => <Diff {...texts} />}</Loaded>
}
