import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { Loaded } from '../../kit/states.tsx'
import { reasonOf } from '../../state/act.ts'
import { type Adapter, adapterName, type Typed, toConfig } from '../../state/adapters.ts'
import { request } from '../../state/api.ts'
import { agents, may } from '../../state/company.ts'
import { placementChoices, usePlacements } from '../../state/placements.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'
import { AdapterFields } from './adapter-fields.tsx'

/** The configuration of an agent: profile, schedule, and a form that is generated from the adapter's schema. */
export function ConfigurationForm({ agent }: { agent: Agent }) {
  const query = useQuery('adapters', () => request('GET /api/adapters'))
  if (!may('admin')) return <p class="note">An admin can see and change the configuration.</p>
  return <Loaded query={query}>{(adapters) => <Form agent={agent} adapters={adapters} />}</Loaded>
}

/** The default timer interval, in seconds. */
const INTERVAL_SEC = 3_600

/** The units of an interval, in seconds. */
const UNITS = [
  { value: '1', label: 'seconds' },
  { value: '60', label: 'minutes' },
  { value: '3600', label: 'hours' },
]

/** Converts an interval to its largest whole unit. */
function splitInterval(seconds: number): { every: string; unit: string } {
  const unit = UNITS.toReversed().find(({ value }) => seconds % Number(value) === 0)!.value
  return { every: String(seconds / Number(unit)), unit }
}

function Form({ agent, adapters }: { agent: Agent; adapters: readonly Adapter[] }) {
  const heartbeat = agent.runtimeConfig.heartbeat ?? {}
  const type = useSignal(agent.adapterType)
  const typed = useSignal<Typed>({})
  const fields = useSignal({
    name: agent.name,
    title: agent.title ?? '',
    capabilities: agent.capabilities ?? '',
    reportsTo: agent.reportsTo ?? '',
    isTimed: heartbeat.enabled ?? false,
    ...splitInterval(heartbeat.intervalSec ?? INTERVAL_SEC),
    isWoken: heartbeat.wakeOnDemand ?? true,
    skipsIdle: heartbeat.skipIfIdle ?? false,
    atOnce: String(heartbeat.maxConcurrentRuns ?? 1),
    placement: agent.runtimeConfig.placement ?? '',
  })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const error = useSignal<string | undefined>(undefined)
  const adapter = adapters.find((one) => one.type === type.value)
  const { name, title, capabilities, reportsTo, isTimed, every, unit, isWoken, skipsIdle, atOnce, placement } =
    fields.value
  const placements = usePlacements().data.value ?? []
  const save = async (event: Event) => {
    event.preventDefault()
    try {
      const adapterConfig = adapter ? toConfig(adapter, typed.peek()) : {}
      const { chainOfCommand, ...row } = await request('PATCH /api/agents/:agentId', {
        params: { agentId: agent.id },
        body: {
          ...(type.peek() !== agent.adapterType && { adapterType: type.peek() }),
          ...(Object.keys(adapterConfig).length > 0 && { adapterConfig }),
          name: name.trim(),
          title: title.trim() || null,
          capabilities: capabilities.trim() || null,
          reportsTo: reportsTo || null,
          runtimeConfig: {
            ...(placement !== (agent.runtimeConfig.placement ?? '') && { placement: placement || null }),
            heartbeat: {
              enabled: isTimed,
              intervalSec: Math.max(1, Math.round(Number(every) * Number(unit))),
              wakeOnDemand: isWoken,
              skipIfIdle: skipsIdle,
              maxConcurrentRuns: Number(atOnce),
            },
          },
        },
      })
      agents.put(row)
      typed.value = {}
      error.value = undefined
      invalidate(`revisions/${agent.id}`)
      toast('The configuration is saved.')
    } catch (thrown) {
      error.value = reasonOf(thrown)
    }
  }
  return (
    <form class="agent-form" onSubmit={save}>
      <fieldset>
        <legend>Profile</legend>
        <div class="form-row">
          <TextField label="Name" value={name} onInput={(value) => set({ name: value })} />
          <TextField label="Title" value={title} onInput={(value) => set({ title: value })} />
        </div>
        <TextField
          label="Capabilities"
          hint="Other agents use it to choose an assignee."
          rows={2}
          value={capabilities}
          onInput={(value) => set({ capabilities: value })}
        />
        <Select
          label="Reports to"
          value={reportsTo}
          options={[
            { value: '', label: 'Nobody' },
            ...agents.all.value
              .filter(({ id, status }) => id !== agent.id && status !== 'terminated')
              .map((one) => ({ value: one.id, label: one.name })),
          ]}
          onChange={(value) => set({ reportsTo: value })}
        />
      </fieldset>
      <fieldset>
        <legend>Schedule</legend>
        <Checkbox
          label="On new work: assignments, mentions, answers"
          isChecked={isWoken}
          onChange={(isOn) => set({ isWoken: isOn })}
        />
        <Checkbox label="On a timer" isChecked={isTimed} onChange={(isOn) => set({ isTimed: isOn })} />
        {isTimed && (
          <div class="form-row under-check">
            <TextField label="Every" type="number" value={every} onInput={(value) => set({ every: value })} />
            <Select label="Unit" value={unit} options={UNITS} onChange={(value) => set({ unit: value })} />
            <Checkbox
              label="Skip when nothing changed"
              isChecked={skipsIdle}
              onChange={(isOn) => set({ skipsIdle: isOn })}
            />
          </div>
        )}
        <TextField
          label="Runs at once"
          type="number"
          class="short-field"
          value={atOnce}
          onInput={(value) => set({ atOnce: value })}
        />
      </fieldset>
      <fieldset>
        <legend>Execution</legend>
        <Select
          label="Adapter"
          hint={adapter?.summary}
          value={type.value}
          options={adapters.map((one) => ({ value: one.type, label: adapterName(one.type) }))}
          onChange={(value) => {
            type.value = value
          }}
        />
        {(placements.length > 0 || placement !== '') && (
          <Select
            label="Placement"
            hint="The machine or the cluster where its runs execute."
            value={placement}
            options={placementChoices(placements, 'The default: that of the project, else of the server')}
            onChange={(value) => set({ placement: value })}
          />
        )}
        {adapter && (
          <AdapterFields
            adapter={adapter}
            config={type.value === agent.adapterType ? agent.adapterConfig : {}}
            typed={typed.value}
            onType={(key, text) => {
              typed.value = { ...typed.peek(), [key]: text }
            }}
          />
        )}
      </fieldset>
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
      <div class="form-end">
        <Button kind="primary" type="submit">
          Save the configuration
        </Button>
      </div>
    </form>
  )
}
