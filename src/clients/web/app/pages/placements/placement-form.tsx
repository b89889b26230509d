import { useSignal } from '@preact/signals'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { request } from '../../state/api.ts'
import { PLACEMENTS, type Placement } from '../../state/placements.ts'
import { invalidate } from '../../state/query.ts'
import { type PlacementType, SETTINGS, TYPES, textOfSetting, toSettings } from './fields.ts'

/** The dialog that adds or changes a placement. */
export function PlacementForm({ placement, onClose }: { placement?: Placement | undefined; onClose: () => void }) {
  const name = useSignal('')
  const type = useSignal<PlacementType>(placement?.type ?? 'ssh')
  const typed = useSignal<Readonly<Record<string, string>>>({})
  const maxRuns = useSignal(String(placement?.maxRuns ?? 100))
  const isDefault = useSignal(placement?.isDefault ?? false)
  const submit = async () => {
    const settings = toSettings(type.peek(), typed.peek(), !placement)
    const rest = { maxRuns: Number(maxRuns.peek()), isDefault: isDefault.peek() }
    if (placement) {
      const body = { ...rest, ...(Object.keys(settings).length > 0 && { settings }) }
      await request('PATCH /api/placements/:placement', { params: { placement: placement.name }, body })
    } else {
      await request('POST /api/placements', {
        body: { name: name.peek().trim(), type: type.peek(), settings, ...rest },
      })
    }
    invalidate(PLACEMENTS)
  }
  return (
    <FormDialog
      title={placement ? `Change ${placement.name}` : 'New placement'}
      action={placement ? 'Save' : 'Add placement'}
      width={560}
      onClose={onClose}
      onSubmit={submit}
    >
      {!placement && (
        <div class="form-row">
          <TextField
            label="Name"
            placeholder="gpu"
            hint="Lower-case letters, digits and dashes."
            isRequired
            autoFocus
            value={name.value}
            onInput={(text) => {
              name.value = text
            }}
          />
          <Select
            label="Type"
            value={type.value}
            options={Object.entries(TYPES).map(([value, label]) => ({ value: value as PlacementType, label }))}
            onChange={(value) => {
              type.value = value
            }}
          />
        </div>
      )}
      {SETTINGS[type.value].map(({ key, label, hint, placeholder, kind, isRequired }) => (
        <TextField
          key={key}
          label={label}
          hint={hint}
          isMono
          {...(placeholder && { placeholder })}
          {...((kind === 'lines' || kind === 'list') && { rows: 2 })}
          {...(isRequired && { isRequired })}
          value={typed.value[key] ?? textOfSetting(placement?.settings[key])}
          onInput={(text) => {
            typed.value = { ...typed.peek(), [key]: text }
          }}
        />
      ))}
      <TextField
        label="Live runs at most"
        type="number"
        value={maxRuns.value}
        onInput={(text) => {
          maxRuns.value = text
        }}
      />
      <Checkbox
        label="Runs that name no placement execute here"
        isChecked={isDefault.value}
        onChange={(isOn) => {
          isDefault.value = isOn
        }}
      />
    </FormDialog>
  )
}
