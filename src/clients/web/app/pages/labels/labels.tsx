import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { labels, may } from '../../state/company.ts'
import { openLabel, openNewLabel } from '../../state/dialogs.ts'
import { toast } from '../../state/toasts.ts'
import type { Label } from '../../state/types.ts'
import { Dot } from '../issues/choices.tsx'

/** The labels of the company, as a section of its settings. */
export function Labels() {
  const list = labels.all.value.toSorted((a, b) => a.name.localeCompare(b.name))
  return (
    <section class="settings-part">
      <h2>Labels</h2>
      {list.length === 0 && <p class="note">No labels yet. Labels group issues by topic, such as bug.</p>}
      <ul class="lines">
        {list.map((label) => (
          <li key={label.id}>
            <Dot color={label.color} />
            <span class="clip">{label.name}</span>
            {may('member') && (
              <span class="line-end">
                <Button kind="quiet" onClick={() => openLabel(label)}>
                  Change
                </Button>
                <Button kind="quiet" onClick={() => void remove(label)}>
                  Delete
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      {may('member') && (
        <div>
          <Button onClick={() => openNewLabel()}>New label</Button>
        </div>
      )}
    </section>
  )
}

async function remove(label: Label): Promise<void> {
  const isSure = await confirm({
    title: `Delete the label ${label.name}?`,
    text: 'This removes it from all issues. The issues are not deleted.',
    action: 'Delete the label',
  })
  if (!isSure) return
  const removed = await act(() => request('DELETE /api/labels/:labelId', { params: { labelId: label.id } }))
  if (!removed) return
  labels.remove(label.id)
  toast(`The label ${label.name} was deleted.`)
}
