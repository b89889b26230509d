import { Picker } from '../../kit/menu.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents, companyIdNow, may } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Agent } from '../../state/types.ts'

/** The skills of an agent, selected from those of the company. */
export function Skills({ agent }: { agent: Agent }) {
  const query = useQuery('skills', () =>
    request('GET /api/companies/:companyId/skills', { params: { companyId: companyIdNow() } }),
  )
  const { desiredSkills } = agent
  const options = (query.data.value ?? [])
    .filter(({ sourceType }) => sourceType !== 'bundled')
    .map(({ key, name }) => ({ value: key, label: name }))
  const nameOf = (key: string) => options.find(({ value }) => value === key)?.label ?? key
  const toggle = (key: string) => {
    const next = desiredSkills.includes(key) ? desiredSkills.filter((one) => one !== key) : [...desiredSkills, key]
    void act(
      () => request('PATCH /api/agents/:agentId', { params: { agentId: agent.id }, body: { desiredSkills: next } }),
      () => agents.patch(agent.id, { desiredSkills: next }),
    )
  }
  const displayed = desiredSkills.length === 0 ? 'Only the bundled skill' : desiredSkills.map(nameOf).join(', ')
  if (!may('admin') || options.length === 0) return <span>{displayed}</span>
  return (
    <Picker label="Skills" class="in-place" isMultiple options={options} value={desiredSkills} onPick={toggle}>
      {displayed}
    </Picker>
  )
}
