import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  /** The validation error. */
  error?: string | undefined
  hint?: ComponentChildren
}

interface TextProps extends FieldProps {
  value: string
  onInput: (value: string) => void
  placeholder?: string
  type?: 'text' | 'number' | 'password' | 'email' | 'url' | 'time'
  /** The number of lines of a multi-line field. */
  rows?: number
  isRequired?: boolean
  isDisabled?: boolean
  autoFocus?: boolean
  /** The prefix of the value, such as `$`. */
  prefix?: string
  /** Whether the font is monospaced, for paths, commands and JSON. */
  isMono?: boolean
  class?: string
}

/** A text field with a label, of one or several lines. */
export function TextField({ label, error, hint, value, onInput, rows, prefix, ...more }: TextProps) {
  const id = useId()
  const shared = {
    id,
    value,
    placeholder: more.placeholder,
    required: more.isRequired,
    disabled: more.isDisabled,
    class: more.isMono ? 'mono' : undefined,
    autofocus: more.autoFocus,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': error || hint ? `${id}-note` : undefined,
  }
  return (
    <Field id={id} label={label} error={error} hint={hint} class={more.class}>
      {rows === undefined ? (
        <span class="input-box">
          {prefix && <span class="prefix">{prefix}</span>}
          <input
            {...shared}
            type={(more.type ?? 'text') as 'text'}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        </span>
      ) : (
        <textarea {...shared} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </Field>
  )
}

interface SelectProps<T extends string> extends FieldProps {
  value: T
  options: readonly { value: T; label: string }[]
  onChange: (value: T) => void
  isDisabled?: boolean
}

/** A select field with a label. */
export function Select<T extends string>({ label, error, hint, value, options, onChange, isDisabled }: SelectProps<T>) {
  const id = useId()
  return (
    <Field id={id} label={label} error={error} hint={hint}>
      <select
        id={id}
        value={value}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Field>
  )
}

interface CheckboxProps {
  label: ComponentChildren
  isChecked: boolean
  onChange: (isChecked: boolean) => void
  hint?: string
  isDisabled?: boolean
}

/** A checkbox with a label. */
export function Checkbox({ label, isChecked, onChange, hint, isDisabled }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint && <span class="hint">{hint}</span>}
      </span>
    </label>
  )
}

/** A label, a control with the given id, and a hint or an error below it. */
export function Field({
  id,
  label,
  error,
  hint,
  children,
  ...more
}: FieldProps & { id: string; children: ComponentChildren; class?: string | undefined }) {
  return (
    <div class={`field ${more.class ?? ''}`}>
      <label for={id}>{label}</label>
      {children}
      {(error || hint) && (
        <div id={`${id}-note`} class={error ? 'hint error' : 'hint'}>
          {error ?? hint}
        </div>
      )}
    </div>
  )
}
