import * as v from 'valibot'
import { icon as agentIcon, role as agentRole } from '../../organization/agent/agent.ts'
import { RuntimeConfig } from '../../organization/agent/runtime-config.ts'
import { isMapping, type Yaml } from '../../platform/source/yaml.ts'
import { readAdapter } from './adapter.ts'
import { readFields, slugOfReference } from './fields.ts'
import type { MarkdownFile } from './markdown-file.ts'
import type { EnvInput, Heartbeat, PackageAgent, PackageTeam } from './package.ts'
import type { Sidecar } from './sidecar.ts'

/**
 * An agent as its file describes it. `reportsTo` is undefined if the file does
 * not contain it, so that a team may set it.
 */
export type ReadAgent = PackageAgent & { saysManager: boolean }

export function readAgent({ path, slug, fields, body, findings }: MarkdownFile, sidecar: Sidecar): ReadAgent {
  const at = `${sidecar.path} (agents.${slug})`
  const ours = readFields(sidecar.of('agents', slug), at, findings)
  fields.noteUnknown(AGENT_FIELDS)
  ours.noteUnknown(SIDECAR_FIELDS)
  const title = fields.line('title')
  const manager = fields.line('reportsTo')
  return {
    slug,
    name: fields.line('name') ?? slug,
    title,
    description: fields.text('description') ?? fields.text('capabilities') ?? ours.text('capabilities'),
    role: roleOf(ours.line('role') ?? fields.line('role'), slug, title),
    icon: iconOf(ours.line('icon') ?? fields.line('icon')),
    reportsTo: manager === null ? null : slugOfReference(manager),
    saysManager: fields.has('reportsTo'),
    skills: [...new Set(fields.list('skills').map(slugOfReference))].filter(Boolean),
    instructions: body,
    ...readAdapter(ours.get('adapter'), path, findings),
    heartbeat: heartbeatOf(ours.mapping('runtime'), ours.problem),
    budgetMonthlyCents: ours.count('budgetMonthlyCents', 1_000_000_000) ?? 0,
    inputs: readInputs(ours.mapping('inputs').env),
  }
}

const AGENT_FIELDS = [
  ...['name', 'title', 'slug', 'description', 'capabilities', 'role', 'icon', 'reportsTo', 'skills', 'schema', 'kind'],
]
const SIDECAR_FIELDS = ['role', 'icon', 'capabilities', 'adapter', 'runtime', 'budgetMonthlyCents', 'inputs']

/**
 * Returns the role in the file; otherwise the role that the slug or title
 * indicates (CEO, CTO), because permissions depend on it.
 */
function roleOf(said: string | null, slug: string, title: string | null): string {
  const word = said?.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')
  if (word !== undefined && v.is(agentRole, word)) return word
  if (slug === 'ceo' || title?.toLowerCase() === 'chief executive officer') return 'ceo'
  if (slug === 'cto' || title?.toLowerCase() === 'chief technology officer') return 'cto'
  return 'engineer'
}

const iconOf = (name: string | null): PackageAgent['icon'] => (v.is(agentIcon, name) ? name : null)

/** An import does not enable the timer, because it starts nothing. */
function heartbeatOf(runtime: Yaml, problem: (message: string) => void): Heartbeat {
  if (!isMapping(runtime.heartbeat)) return {}
  const known = ['intervalSec', 'wakeOnDemand', 'skipIfIdle', 'maxConcurrentRuns']
  const entries = Object.entries(runtime.heartbeat).filter(([key]) => known.includes(key))
  const result = v.safeParse(RuntimeConfig, { heartbeat: Object.fromEntries(entries) })
  if (result.success) return result.output.heartbeat ?? {}
  for (const issue of result.issues) problem(`${v.getDotPath(issue)}: ${issue.message}`)
  return {}
}

function readInputs(env: unknown): EnvInput[] {
  if (!isMapping(env)) return []
  return Object.entries(env)
    .filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name))
    .map(([name, said]) => {
      const input = isMapping(said) ? said : {}
      return {
        name,
        kind: input.kind === 'plain' ? 'plain' : 'secret',
        requirement: input.requirement === 'required' ? 'required' : 'optional',
        description: typeof input.description === 'string' ? input.description.slice(0, 500) : null,
      }
    })
}

const TEAM_FIELDS = ['name', 'slug', 'description', 'manager', 'includes', 'tags', 'schema', 'kind']

export function readTeam({ slug, fields, body }: MarkdownFile): PackageTeam {
  fields.noteUnknown(TEAM_FIELDS)
  const manager = fields.line('manager')
  const includes = fields.list('includes')
  const isSkill = (reference: string) => /(^|\/)skills\//.test(reference)
  const isTeam = (reference: string) => /(^|\/)teams\/|TEAM\.md$/.test(reference)
  return {
    slug,
    name: fields.line('name') ?? slug,
    description: fields.text('description'),
    manager: manager === null ? null : slugOfReference(manager),
    agents: includes.filter((reference) => !isSkill(reference) && !isTeam(reference)).map(slugOfReference),
    skills: includes.filter(isSkill).map(slugOfReference),
    tags: fields.list('tags'),
    body,
  }
}
