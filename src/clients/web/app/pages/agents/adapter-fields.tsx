import { Checkbox, TextField } from '../../kit/field.tsx'
import { type Adapter, type AdapterField, fieldsOf, type Typed, textOf } from '../../state/adapters.ts'

interface FieldsProps {
  adapter: Adapter
  /** The stored configuration. */
  config: Readonly<Record<string, unknown>>
  typed: Typed
  onType: (name: string, text: string) => void
}

/** The form of an adapter's configuration. Rarely used fields are collapsed. */
export function AdapterFields({ adapter, ...rest }: FieldsProps) {
  const fields = fieldsOf(adapter)
  const main = fields.filter(({ isMain }) => isMain)
  const more = fields.filter(({ isMain }) => !isMain)
  return (
    <>
      {main.map((field) => (
        <OneField key={field.name} field={field} {...rest} />
      ))}
      {more.length > 0 && (
        <details class="more-fields">
          <summary>Prompt, limits and environment</summary>
          <div class="form">
            {more.map((field) => (
              <OneField key={field.name} field={field} {...rest} />
            ))}
          </div>
        </details>
      )}
    </>
  )
}

function OneField({ field, config, typed, onType }: Omit<FieldsProps, 'adapter'> & { field: AdapterField }) {
  const { name, label, kind, property, isRequired } = field
  const value = typed[name] ?? textOf(config[name], kind)
  const set = (text: string) => onType(name, text)
  if (kind === 'yes') {
    return (
      <Checkbox
        label={label}
        hint={property.description ?? ''}
        isChecked={value === '' ? property.default === true : value === 'true'}
        onChange={(isOn) => set(String(isOn))}
      />
    )
  }
  return (
    <TextField
      label={label}
      hint={property.description}
      isRequired={isRequired}
      isMono={kind === 'json' || name === 'command' || name === 'cwd'}
      {...(kind === 'number' ? { type: 'number' as const } : {})}
      {...(kind === 'json' || name === 'promptTemplate' ? { rows: kind === 'json' ? 2 : 4 } : {})}
      {...(property.default !== undefined && { placeholder: textOf(property.default, kind) })}
      value={value}
      onInput={set}
    />
  )
}
