import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { adapterName, type Typed, toConfig } from '../../state/adapters.ts'
import { request } from '../../state/api.ts'
import { agents, company, companyIdNow, pathTo } from '../../state/company.ts'
import { isHiring } from '../../state/dialogs.ts'
import { loadInbox } from '../../state/inbox.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import { AdapterFields } from './adapter-fields.tsx'

/** The built-in agent. It uses the adapter `process`. */
const DEMO = 'demo'

/** The dialog that hires an agent. The frame mounts it once. */
export function NewAgent() {
  return isHiring.value ? <Form /> : null
}

function Form() {
  const { route } = useLocation()
  const managers = agents.all.value.filter(({ status }) => status !== 'terminated')
  const fields = useSignal({
    name: '',
    title: '',
    capabilities: '',
    reportsTo: managers.find(({ reportsTo }) => reportsTo === null)?.id ?? '',
    adapterType: 'runtimeA_local',
    budget: '20',
  })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const typed = useSignal<Typed>({})
  const adapters = useQuery('adapters', () => request('GET /api/adapters'))
  const { name, title, capabilities, reportsTo, adapterType, budget } = fields.value
  const adapter = adapters.data.value?.find(({ type }) => type === adapterType)
  const needsApproval = company.value?.requireBoardApprovalForNewAgents
  const submit = async () => {
    if (name.trim() === '') throw new Error('An agent needs a name.')
    if (!(Number(budget) >= 0)) throw new Error('The budget must be a number of dollars.')
    const runs =
      adapterType === DEMO
        ? await request('POST /api/instance/demo-agent')
        : { adapterType, adapterConfig: adapter ? toConfig(adapter, typed.peek()) : {} }
    const hired = await request('POST /api/companies/:companyId/agent-hires', {
      params: { companyId: companyIdNow() },
      body: {
        name: name.trim(),
        title: title.trim() || null,
        capabilities: capabilities.trim() || null,
        reportsTo: reportsTo || null,
        budgetMonthlyCents: Math.round(Number(budget) * 100),
        ...runs,
      },
    })
    const { chainOfCommand, ...agent } = hired.agent
    agents.put(agent)
    if (hired.approval) {
      void loadInbox()
      toast(`${agent.name} waits for the approval of the board.`)
    } else toast(`${agent.name} was hired.`)
    route(pathTo(`agents/${agent.urlKey}`))
  }
  return (
    <FormDialog
      title="Hire an agent"
      action={needsApproval ? 'Request the hire' : 'Hire'}
      width={560}
      onClose={() => {
        isHiring.value = false
      }}
      onSubmit={submit}
    >
      <div class="form-row">
        <TextField label="Name" autoFocus isRequired value={name} onInput={(value) => set({ name: value })} />
        <TextField
          label="Title"
          placeholder="Engineer, data"
          value={title}
          onInput={(value) => set({ title: value })}
        />
      </div>
      <TextField
        label="Capabilities"
        hint="A description of its skills, for other agents."
        rows={2}
        value={capabilities}
        onInput={(value) => set({ capabilities: value })}
      />
      <div class="form-row">
        <Select
          label="Reports to"
          value={reportsTo}
          options={[
            { value: '', label: 'Nobody' },
            ...managers.map((agent) => ({ value: agent.id, label: agent.name })),
          ]}
          onChange={(value) => set({ reportsTo: value })}
        />
        <TextField
          label="Monthly budget"
          hint="0 means no limit."
          prefix="$"
          value={budget}
          onInput={(value) => set({ budget: value })}
        />
      </div>
      <Select
        label="Adapter"
        hint={adapterType === DEMO ? 'Uses no model and costs nothing. It simulates work.' : adapter?.summary}
        value={adapterType}
        options={[
          ...(adapters.data.value ?? []).map(({ type }) => ({ value: type, label: adapterName(type) })),
          { value: DEMO, label: 'The built-in demo agent' },
        ]}
        onChange={(value) => {
          typed.value = {}
          set({ adapterType: value })
        }}
      />
      {adapter && (
        <AdapterFields
          adapter={adapter}
          config={{}}
          typed={typed.value}
          onType={(key, text) => {
            typed.value = { ...typed.peek(), [key]: text }
          }}
        />
      )}
    </FormDialog>
  )
}
