import type { NewAgent } from '../../organization/agent/agent.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import type { GoalLevel, GoalRow } from '../../work/goal/goal.ts'
import type { IssueRow } from '../../work/issue/issue.ts'
import type { ProjectRow } from '../../work/project/project.ts'

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
  /** What belongs to the package as a whole, such as its LICENSE, by path. */
  documents: SourceFiles
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
  authors: { name: string; email?: string }[]
  tags: string[]
}

export interface PackageGoal {
  slug: string
  title: string
  description: string | null
  level: GoalLevel
  status: GoalRow['status']
  parent: string | null
  owner: string | null
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
  instructions: string
  adapterType: string
  adapterConfig: Record<string, unknown>
  heartbeat: Heartbeat
  budgetMonthlyCents: number
  inputs: EnvInput[]
}

/** Without `enabled`: each installation decides whether a timer runs. */
export type Heartbeat = Omit<NonNullable<NonNullable<NewAgent['runtimeConfig']>['heartbeat']>, 'enabled'>

/** An environment variable that an agent needs, without its value. */
export interface EnvInput {
  name: string
  kind: 'secret' | 'plain'
  requirement: 'required' | 'optional'
  description: string | null
}

export interface PackageTeam {
  slug: string
  name: string
  description: string | null
  manager: string | null
  agents: string[]
  skills: string[]
  tags: string[]
  body: string
}

export interface PackageProject {
  slug: string
  name: string
  description: string | null
  status: ProjectRow['status']
  lead: string | null
  targetDate: string | null
  goals: string[]
  workspaces: PackageWorkspace[]
}

/** A workspace without its folder, which belongs to one machine. The first one is primary. */
export interface PackageWorkspace {
  name: string
  repoUrl: string
  repoRef: string | null
}

export interface PackageTask {
  key: string
  slug: string
  project: string | null
  title: string
  description: string | null
  assignee: string | null
  status: StarterStatus
  priority: IssueRow['priority']
  labels: string[]
  parent: string | null
  blockedBy: string[]
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
}
