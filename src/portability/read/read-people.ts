import * as v from 'valibot'
import { icon as agentIcon, role as agentRole, Permissions } from '../../organization/agent/agent.ts'
import { RuntimeConfig } from '../../organization/agent/runtime-config.ts'
import { isMapping, type Yaml } from '../../platform/source/yaml.ts'
import { readAdapter } from './adapter.ts'
import { type Findings, readFields, slugOfReference } from './fields.ts'
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
  const metadata = fields.get('metadata')
  const isOurs = isMapping(metadata) && !Object.hasOwn(metadata, 'inputs')
  const requirements = fields.get('requirements')
  const stored = {
    matter: {
      ...fields.rest(isOurs ? [...AGENT_FIELDS, 'metadata'] : AGENT_FIELDS),
      ...(requirements !== null && { requirements }),
    },
    sidecar: ours.rest(SIDECAR_FIELDS),
  }
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
    otherSkills: [],
    permissions: readPermissions(ours.mapping('permissions'), at, findings),
    metadata: isOurs ? metadata : {},
    instructions: body,
    ...readAdapter(ours.get('adapter'), path, findings),
    heartbeat: heartbeatOf(ours.mapping('runtime'), at, findings),
    budgetMonthlyCents: ours.count('budgetMonthlyCents', 1_000_000_000) ?? 0,
    inputs: readInputs(ours.mapping('inputs'), requiredSecrets(requirements), at, findings),
    kept: stored,
  }
}

const AGENT_FIELDS = [
  ...['name', 'title', 'slug', 'description', 'capabilities', 'role', 'icon', 'reportsTo', 'skills', 'schema', 'kind'],
  'requirements',
]
const SIDECAR_FIELDS = [
  'role',
  'icon',
  'capabilities',
  'adapter',
  'runtime',
  'budgetMonthlyCents',
  'inputs',
  'permissions',
]

/**
 * Returns the role in the file; otherwise the role that the slug or title
 * indicates (CEO, CTO), because permissions depend on it.
 */
function roleOf(value: string | null, slug: string, title: string | null): string {
  const word = value?.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')
  if (word !== undefined && v.is(agentRole, word)) return word
  if (slug === 'ceo' || title?.toLowerCase() === 'chief executive officer') return 'ceo'
  if (slug === 'cto' || title?.toLowerCase() === 'chief technology officer') return 'cto'
  return 'engineer'
}

const iconOf = (name: string | null): PackageAgent['icon'] => (v.is(agentIcon, name) ? name : null)

/** An import does not enable the timer, because it starts no work. */
function heartbeatOf(runtime: Yaml, path: string, findings: Findings): Heartbeat {
  readFields(runtime, `${path} runtime`, findings).noteUnknown(['heartbeat'])
  if (!isMapping(runtime.heartbeat)) return {}
  const fields = readFields(runtime.heartbeat, `${path} runtime.heartbeat`, findings)
  const known = ['intervalSec', 'wakeOnDemand', 'skipIfIdle', 'maxConcurrentRuns']
  fields.noteUnknown([...known, 'enabled'])
  if (fields.flag('enabled')) {
    const message = 'Its timer (heartbeat.enabled) is off after the import, which starts nothing. Turn it on yourself.'
    findings.warnings.push({ code: 'timer_off', path, message })
  }
  const entries = Object.entries(runtime.heartbeat).filter(([key]) => known.includes(key))
  const result = v.safeParse(RuntimeConfig, { heartbeat: Object.fromEntries(entries) })
  if (result.success) return result.output.heartbeat ?? {}
  for (const issue of result.issues) fields.problem(`${v.getDotPath(issue)}: ${issue.message}`)
  return {}
}

function readPermissions(value: Yaml, path: string, findings: Findings): Permissions {
  const fields = readFields(value, `${path} permissions`, findings)
  const names = Object.keys(Permissions.entries) as (keyof Permissions)[]
  fields.noteUnknown(names)
  return Object.fromEntries(names.filter((name) => typeof value[name] === 'boolean').map((name) => [name, value[name]]))
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

/** Returns the names in `requirements.secrets` of the frontmatter: texts, or mappings with a name. */
function requiredSecrets(requirements: unknown): string[] {
  const secrets = isMapping(requirements) ? requirements.secrets : null
  return (Array.isArray(secrets) ? secrets : [])
    .map((secret) => (isMapping(secret) ? (secret.name ?? secret.key) : secret))
    .filter((name): name is string => typeof name === 'string' && ENV_NAME.test(name))
}

function readInputs(inputs: Yaml, secrets: readonly string[], path: string, findings: Findings): EnvInput[] {
  readFields(inputs, `${path} inputs`, findings).noteUnknown(['env'])
  const declared = Object.entries(isMapping(inputs.env) ? inputs.env : {}).filter(([name]) => ENV_NAME.test(name))
  const read = declared.map(([name, value]): EnvInput => {
    const input = isMapping(value) ? value : {}
    const kind = input.kind === 'plain' ? 'plain' : 'secret'
    const { default: usual } = input
    const hasDefault = kind === 'plain' && typeof usual === 'string' && usual !== '' && usual.length <= 500
    const known = ['kind', 'requirement', 'description', ...(hasDefault || usual === '' ? ['default'] : [])]
    readFields(input, `${path} inputs.env.${name}`, findings).noteUnknown(known)
    return {
      name,
      kind,
      requirement: input.requirement === 'required' ? 'required' : 'optional',
      description: typeof input.description === 'string' ? input.description.slice(0, 500) : null,
      ...(hasDefault && { default: usual }),
    }
  })
  const others = secrets.filter((name) => !read.some((input) => input.name === name))
  return [
    ...read,
    ...[...new Set(others)].map(
      (name): EnvInput => ({ name, kind: 'secret', requirement: 'required', description: null }),
    ),
  ]
}

const TEAM_FIELDS = ['name', 'slug', 'description', 'manager', 'includes', 'tags', 'schema', 'kind']

export function readTeam({ slug, fields, body }: MarkdownFile): PackageTeam {
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
    others: includes.filter((reference) => !isSkill(reference) && isTeam(reference)),
    tags: fields.list('tags'),
    body,
    kept: { matter: fields.rest(TEAM_FIELDS), sidecar: {} },
  }
}
