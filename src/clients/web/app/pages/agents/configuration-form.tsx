import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { Loaded } from '../../kit/states.tsx'
import { reasonOf } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { agents, may } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'

type AdapterInfo = Received<'GET /api/adapters'>[number]

/** The part of a JSON Schema that the form reads. */
interface Property {
  type?: string
  description?: string
  default?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Property[]
}

type Kind = 'text' | 'number' | 'yes' | 'json'

const kindOf = (property: Property): Kind => {
  const type = property.type ?? property.anyOf?.find((one) => one.type && one.type !== 'null')?.type
  if (type === 'boolean') return 'yes'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'string' ? 'text' : 'json'
}

/** The configuration of an agent, as a form made from the schema of its adapter. */
export function ConfigurationForm({ agent }: { agent: Agent }) {
  const query = useQuery('adapters', () => request('GET /api/adapters'))
  if (!may('admin')) return <p class="note">An admin can see and change the configuration.</p>
  return <Loaded query={query}>{(adapters) => <Form agent={agent} adapters={adapters} />}</Loaded>
}

function Form({ agent, adapters }: { agent: Agent; adapters: readonly AdapterInfo[] }) {
  const type = useSignal(agent.adapterType)
  const changed = useSignal<Record<string, string>>({})
  const about = useSignal({ title: agent.title ?? '', capabilities: agent.capabilities ?? '' })
  const error = useSignal<string | undefined>(undefined)
  const adapter = adapters.find((one) => one.type === type.value)
  const properties = Object.entries((adapter?.configSchema.properties ?? {}) as Record<string, Property>)
  const config = type.value === agent.adapterType ? agent.adapterConfig : {}
  const textOf = (name: string, kind: Kind) => {
    const value = config[name]
    if (value === undefined || value === null) return ''
    return kind === 'json' ? JSON.stringify(value, null, 2) : String(value)
  }
  const set = (name: string) => (value: string) => {
    changed.value = { ...changed.peek(), [name]: value }
  }
  const save = async (event: Event) => {
    event.preventDefault()
    try {
      const adapterConfig = Object.fromEntries(
        properties.flatMap(([name, property]) => {
          const text = changed.peek()[name]
          return text === undefined ? [] : [[name, parse(name, text, kindOf(property))]]
        }),
      )
      const { chainOfCommand, ...row } = await request('PATCH /api/agents/:agentId', {
        params: { agentId: agent.id },
        body: {
          ...(type.peek() !== agent.adapterType && { adapterType: type.peek() }),
          ...(Object.keys(adapterConfig).length > 0 && { adapterConfig }),
          title: about.peek().title.trim() || null,
          capabilities: about.peek().capabilities.trim() || null,
        },
      })
      agents.put(row)
      changed.value = {}
      error.value = undefined
      invalidate(`revisions/${agent.id}`)
      toast('The configuration is saved.')
    } catch (thrown) {
      error.value = reasonOf(thrown)
    }
  }
  return (
    <form class="agent-form" onSubmit={save}>
      <TextField
        label="Title"
        value={about.value.title}
        onInput={(title) => {
          about.value = { ...about.peek(), title }
        }}
      />
      <TextField
        label="Capabilities"
        hint="Other agents read it to choose whom to ask."
        rows={3}
        value={about.value.capabilities}
        onInput={(capabilities) => {
          about.value = { ...about.peek(), capabilities }
        }}
      />
      <Select
        label="Adapter"
        hint={adapter?.summary}
        value={type.value}
        options={adapters.map((one) => ({ value: one.type, label: one.type }))}
        onChange={(value) => {
          type.value = value
        }}
      />
      {properties.map(([name, property]) => {
        const kind = kindOf(property)
        const value = changed.value[name] ?? textOf(name, kind)
        const placeholder =
          property.default === undefined
            ? {}
            : {
                placeholder:
                  typeof property.default === 'object' ? JSON.stringify(property.default) : String(property.default),
              }
        if (kind === 'yes') {
          return (
            <Checkbox
              key={name}
              label={name}
              hint={property.description ?? ''}
              isChecked={value === 'true'}
              onChange={(isOn) => set(name)(String(isOn))}
            />
          )
        }
        return (
          <TextField
            key={name}
            label={name}
            hint={property.description}
            {...(kind === 'number'
              ? { type: 'number' as const }
              : kind === 'json' || /template|prompt/i.test(name)
                ? { rows: 3 }
                : {})}
            {...placeholder}
            value={value}
            onInput={set(name)}
          />
        )
      })}
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

/** The value that a field stands for; an empty one removes the key. */
function parse(name: string, text: string, kind: Kind): unknown {
  if (text.trim() === '') return null
  if (kind === 'number') return Number(text)
  if (kind === 'yes') return text === 'true'
  if (kind === 'text') return text
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${name} must be JSON`)
  }
}
