import { useSignal } from '@preact/signals'
import { Button } from './button.tsx'
import { Markdown } from './markdown.tsx'

interface EditableProps {
  value: string
  isFixed: boolean
  /** @returns whether the text was saved; if not, it stays in the field */
  onSave: (value: string) => Promise<boolean>
}

/** A title that can be edited in place. Enter saves, Escape cancels. */
export function EditableTitle({ value, isFixed, onSave }: EditableProps) {
  const text = useSignal<string | undefined>(undefined)
  if (text.value === undefined || isFixed) {
    return (
      <h2 class="detail-title">
        {isFixed ? (
          value
        ) : (
          <button
            type="button"
            title="Change the title"
            onClick={() => {
              text.value = value
            }}
          >
            {value}
          </button>
        )}
      </h2>
    )
  }
  const save = () => {
    const title = text.peek()?.trim()
    text.value = undefined
    if (title && title !== value) void onSave(title)
  }
  return (
    <input
      class="detail-title-field"
      aria-label="Title"
      autofocus
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value
      }}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') save()
        if (event.key === 'Escape') text.value = undefined
        event.stopPropagation()
      }}
    />
  )
}

/** A Markdown text that can be edited in place. Ctrl+Enter saves. */
export function EditableText({ value, isFixed, onSave }: EditableProps) {
  const text = useSignal<string | undefined>(undefined)
  const edit = () => {
    text.value = value
  }
  if (text.value === undefined) {
    if (value === '') {
      return isFixed ? null : (
        <Button kind="quiet" class="add-text" onClick={edit}>
          Add a description
        </Button>
      )
    }
    return (
      <section class="description" aria-label="Description">
        <Markdown text={value} />
        {!isFixed && (
          <Button kind="quiet" class="edit" onClick={edit}>
            Edit
          </Button>
        )}
      </section>
    )
  }
  const close = () => {
    text.value = undefined
  }
  const save = async () => {
    const changed = text.peek()!.trim()
    if (changed === value || (await onSave(changed))) close()
  }
  return (
    <section class="description editing" aria-label="Description">
      <textarea
        aria-label="Description"
        rows={Math.min(20, Math.max(6, text.value.split('\n').length + 1))}
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save()
          if (event.key === 'Escape' && text.peek() === value) close()
        }}
      />
      <div class="form-end">
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" hint="Ctrl ↵" onClick={() => void save()}>
          Save
        </Button>
      </div>
    </section>
  )
}
