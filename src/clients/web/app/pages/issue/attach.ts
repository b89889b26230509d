import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { invalidate } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'

export type Attachment = Received<'GET /api/issues/:issueId/attachments'>[number]

/** The maximum size of an uploaded file, in bytes. */
const LIMIT = 20 * 1024 * 1024

/** Attaches files to an issue, one after the other. @returns the attached files */
export async function attach(issueId: string, files: readonly File[]): Promise<Attachment[]> {
  const done: Attachment[] = []
  for (const file of files) {
    if (file.size > LIMIT) {
      toast(`${file.name} is larger than 20 MB.`, { tone: 'danger' })
      continue
    }
    const body = new FormData()
    body.set('file', file, file.name)
    const attached = await act(() => request('POST /api/issues/:issueId/attachments', { params: { issueId }, body }))
    if (attached) done.push(attached)
  }
  if (done.length > 0) invalidate(`attachments/${issueId}`)
  return done
}

export const isImage = ({ contentType }: Attachment) => contentType.startsWith('image/')

/** Formats an attachment as Markdown: an image is embedded, another file is a link. */
export const toMarkdown = (one: Attachment) =>
  `${isImage(one) ? '!' : ''}[${one.fileName.replaceAll(/[[\]]/g, '')}](${one.url})`

/**
 * Returns the files of a paste or a drop. Office programs paste text together with an image
 * of it; the text takes precedence.
 */
export const filesOf = (data: DataTransfer | null): File[] =>
  data && !data.types.includes('text/plain') ? [...data.files] : []
