import type { NewAgent, Permissions } from '../../organization/agent/agent.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import type { Yaml } from '../../platform/source/yaml.ts'
import type { GoalLevel, GoalRow } from '../../work/goal/goal.ts'
import type { IssueRow } from '../../work/issue/issue.ts'
import type { ProjectRow } from '../../work/project/project.ts'
import type { WorkspaceRow } from '../../work/project/workspace.ts'

/** The names of the package layout's schema and of our sidecar's schema. */
export const SCHEMA = 'agentcompanies/v1'
export const SIDECAR_SCHEMA = 'service/v1'

/**
 * A company as a package describes it, after reading and before writing.
 * Entities refer to each other by slug; the key of a task is
 * `<project>/<slug>`, or its slug alone.
 */
export interface CompanyPackage {
  company: PackageCompany
  /** Parents before children. */
  goals: PackageGoal[]
  labels: PackageLabel[]
  skills: PackageSkill[]
  agents: PackageAgent[]
  teams: PackageTeam[]
  projects: PackageProject[]
  tasks: PackageTask[]
  routines: PackageRoutine[]
  /** The files of the package as a whole, such as its LICENSE, by path. */
  documents: SourceFiles
}

/**
 * The fields of an entity that have no meaning here. They are stored with the
 * entity, so that an export contains them again.
 */
export interface Kept {
  /** Fields of the frontmatter. */
  matter: Yaml
  /** Fields of the entity's entry in the sidecar. */
  sidecar: Yaml
}

export interface PackageCompany {
  /** Null where the package has no COMPANY.md. */
  name: string | null
  slug: string
  description: string | null
  brandColor: string | null
  budgetMonthlyCents: number
  requireBoardApprovalForNewAgents: boolean
  about: About
}

/** The fields of COMPANY.md without a column. They are stored for the next export. */
export interface About {
  body: string
  version: string | null
  license: string | null
  homepage: string | null
  authors: (Yaml & { name: string })[]
  tags: string[]
  /** The slug in the frontmatter, if it does not follow from the name. */
  slug?: string | null
  kept?: Kept
  /** Sections of the sidecar without a meaning here. */
  sections?: Yaml
}

export interface PackageGoal {
  slug: string
  title: string
  description: string | null
  level: GoalLevel
  status: GoalRow['status']
  parent: string | null
  owner: string | null
  kept: Kept
}

export interface PackageLabel {
  name: string
  color: string
}

/** A skill with all its files, including SKILL.md, by their paths below its folder. */
export interface PackageSkill {
  slug: string
  name: string
  description: string | null
  /** Equal digests mean equal files. */
  digest: string
  files: SourceFiles
}

export interface PackageAgent {
  slug: string
  name: string
  title: string | null
  description: string | null
  role: string
  icon: NonNullable<NewAgent['icon']> | null
  /** Null at the top. */
  reportsTo: string | null
  skills: string[]
  /** Skills that neither the package nor the company has. */
  otherSkills: string[]
  permissions: Permissions
  metadata: Yaml
  instructions: string
  adapterType: string
  adapterConfig: Record<string, unknown>
  heartbeat: Heartbeat
  budgetMonthlyCents: number
  inputs: EnvInput[]
  kept: Kept
}

/** Without `enabled`: each installation decides whether a timer runs. */
export type Heartbeat = Omit<NonNullable<NonNullable<NewAgent['runtimeConfig']>['heartbeat']>, 'enabled'>

/** An environment variable that an agent needs, without its value. */
export interface EnvInput {
  name: string
  kind: 'secret' | 'plain'
  requirement: 'required' | 'optional'
  description: string | null
  /** The value of a plain variable if none is set. */
  default?: string
}

export interface PackageTeam {
  slug: string
  name: string
  description: string | null
  manager: string | null
  agents: string[]
  skills: string[]
  /** The includes of the team other than agents and skills, such as other teams. */
  others: string[]
  tags: string[]
  body: string
  kept: Kept
}

export interface PackageProject {
  slug: string
  name: string
  /** The description of the frontmatter, if the file has a body too. It is the beginning of `description`. */
  summary: string | null
  description: string | null
  status: ProjectRow['status']
  lead: string | null
  targetDate: string | null
  goals: string[]
  workspaces: PackageWorkspace[]
  kept: Kept
}

/** A workspace without its folder, which belongs to one machine. The first one is primary. */
export interface PackageWorkspace {
  name: string
  repoUrl: string
  repoRef: string | null
  isolation: WorkspaceRow['isolation']
  setupCommand: string | null
  cleanupCommand: string | null
}

export interface PackageTask {
  key: string
  slug: string
  project: string | null
  title: string
  summary: string | null
  description: string | null
  assignee: string | null
  goal: string | null
  billingCode: string | null
  status: StarterStatus
  priority: IssueRow['priority']
  labels: string[]
  parent: string | null
  blockedBy: string[]
  kept: Kept
}

/** The statuses of a starter task: work on it has not started, and it is not finished. */
const STARTER_STATUSES = ['backlog', 'todo', 'blocked'] as const
export type StarterStatus = (typeof STARTER_STATUSES)[number]

/** A recurring task, from which a routine is created. Exactly one of `cron` and `intervalSec` is set. */
export interface PackageRoutine {
  key: string
  slug: string
  project: string | null
  title: string
  summary: string | null
  description: string | null
  assignee: string | null
  priority: IssueRow['priority']
  labels: string[]
  goal: string | null
  /** The key of a task. */
  parent: string | null
  cron: string | null
  timeZone: string | null
  intervalSec: number | null
  overlap: 'skip' | 'queue' | 'allow'
  kept: Kept
}
