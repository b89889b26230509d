import type { Signal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { plural } from '../../kit/format.ts'
import { Picker } from '../../kit/menu.tsx'
import { issues } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Issue } from '../../state/types.ts'
import { changeIssue } from './change.ts'
import { assigneeOptions, priorityOptions, statusOptions, toAssignee } from './choices.tsx'

type Change = Parameters<typeof changeIssue>[1]

/** The actions on all selected issues. */
export function BulkBar({ selection }: { selection: Signal<ReadonlySet<string>> }) {
  const count = selection.value.size
  if (count === 0) return null
  const change = async (body: Change) => {
    const rows = [...selection.value].flatMap((id) => issues.row(id).peek() ?? [])
    const results = await Promise.all(rows.map((issue: Issue) => changeIssue(issue, body)))
    const done = results.filter(Boolean).length
    if (done > 0) toast(`Changed ${plural(done, 'issue')}${done < rows.length ? ` of ${rows.length}` : ''}.`)
  }
  return (
    <section class="bulk" aria-label="Selected issues">
      <span class="num">{count} selected</span>
      <Picker label="Status" class="button" options={statusOptions} onPick={(status) => void change({ status })}>
        Status
      </Picker>
      <Picker
        label="Priority"
        class="button"
        options={priorityOptions}
        onPick={(priority) => void change({ priority })}
      >
        Priority
      </Picker>
      <Picker label="Assignee" class="button" options={assigneeOptions} onPick={(id) => void change(toAssignee(id))}>
        Assignee
      </Picker>
      <Button
        kind="quiet"
        hint="Esc"
        onClick={() => {
          selection.value = new Set()
        }}
      >
        Clear
      </Button>
    </section>
  )
}
