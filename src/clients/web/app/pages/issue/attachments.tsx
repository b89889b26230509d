import file from 'lucide-static/icons/file.svg'
import paperclip from 'lucide-static/icons/paperclip.svg'
import x from 'lucide-static/icons/x.svg'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { size } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { may } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Issue } from '../../state/types.ts'
import { type Attachment, attach, isImage } from './attach.ts'

/** The files of an issue: images as pictures, other files by name. */
export function Attachments({ issue }: { issue: Issue }) {
  const query = useQuery(
    `attachments/${issue.id}`,
    () => request('GET /api/issues/:issueId/attachments', { params: { issueId: issue.id } }),
    ({ type, data }) => data.entityId === issue.id && type.startsWith('issue.attachment'),
  )
  const list = query.data.value ?? []
  if (list.length === 0) return null
  return (
    <section class="rows" aria-label="Attachments">
      <header class="section-head">
        <h3>Attachments</h3>
        <span class="num">{list.length}</span>
        {may('member') && (
          <span class="section-end">
            <AttachButton issue={issue} />
          </span>
        )}
      </header>
      <ul class="attachments">
        {list.map((one) => (
          <li key={one.id}>
            <a href={one.url} target="_blank" rel="noopener" title={one.fileName}>
              {isImage(one) ? <img src={one.url} alt="" loading="lazy" /> : <Icon svg={file} size={24} />}
              <span class="clip">{one.fileName}</span>
              <span class="note">{size(one.byteSize)}</span>
            </a>
            {may('member') && (
              <Button kind="quiet" icon={x} label={`Remove ${one.fileName}`} onClick={() => void remove(one)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A button that chooses files to attach. */
export function AttachButton({ issue, onDone }: { issue: Issue; onDone?: (attached: Attachment[]) => void }) {
  return (
    <label class="button quiet bare" title="Attach a file">
      <Icon svg={paperclip} label="Attach a file" />
      <input
        type="file"
        class="hidden"
        multiple
        onChange={async (event) => {
          const input = event.currentTarget
          const attached = await attach(issue.id, [...(input.files ?? [])])
          input.value = ''
          onDone?.(attached)
        }}
      />
    </label>
  )
}

async function remove({ id, fileName }: Attachment): Promise<void> {
  const isSure = await confirm({
    title: `Remove ${fileName}?`,
    text: 'This deletes the file. Links to it in comments will be broken.',
    action: 'Remove the file',
  })
  if (!isSure) return
  if (await act(() => request('DELETE /api/attachments/:attachmentId', { params: { attachmentId: id } })))
    toast(`${fileName} was removed.`)
}
