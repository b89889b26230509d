import { html } from 'hono/html'
import { fieldErrorsOf, type Html } from '../../http/html-page.ts'
import type { AppError } from '../../platform/errors.ts'

export interface FormField {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'date' | 'hidden'
  value?: string
  autocomplete?: string
  hint?: string
  /** The minimum number of characters. */
  least?: number
  /** Whether the field is displayed and sent, but not editable. */
  readonly?: boolean
}

interface Form {
  action: string
  submit: string
  fields: readonly FormField[]
  /** The error of the last submit. */
  error?: AppError | undefined
  /** Whether the form is secondary on its page. */
  isMinor?: boolean
}

/**
 * Renders a form that works without scripts. Each error of a field is displayed
 * beside it. The focus is on the first field with an error, or on the last field
 * (the password) if the error concerns no field.
 */
export function formOf({ action, submit, fields, error, isMinor = false }: Form): Html {
  const faults = fieldErrorsOf(error)
  const displayed = fields.filter(({ type, readonly }) => type !== 'hidden' && !readonly)
  const focused = error && (displayed.find(({ name }) => faults.has(name)) ?? displayed.at(-1))
  return html`<form method="post" action="${action}">
${fields.map((field) => fieldOf(field, faults.get(field.name), field === focused))}<button${isMinor && html` class="minor"`}>${submit}</button>
</form>`
}

function fieldOf(field: FormField, fault: string | undefined, isFocused: boolean): Html {
  const { name, label, type = 'text', value = '', autocomplete = 'off', hint, least, readonly = false } = field
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${value}">`
  const notes = [hint !== undefined && `${name}-hint`, fault !== undefined && `${name}-error`].filter(
    (id) => id !== false,
  )
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}"${type !== 'date' && html` required`} autocomplete="${autocomplete}"${
    least !== undefined && html` minlength="${least}"`
  }${readonly && html` readonly`}${notes.length > 0 && html` aria-describedby="${notes.join(' ')}"`}${
    fault !== undefined && html` aria-invalid="true"`
  }${isFocused && html` autofocus`}>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}${
  fault !== undefined && html`<p class="error" id="${name}-error">${label} ${fault}.</p>`
}`
}
