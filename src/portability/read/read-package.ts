import { hash } from 'node:crypto'
import { digestOf, takeInventory } from '../../organization/skill/inventory.ts'
import { assertSkillSize, validateSkillFiles } from '../../organization/skill/limits.ts'
import { compare } from '../../platform/compare.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { AppError } from '../../platform/errors.ts'
import { filesBelow, type SourceFiles } from '../../platform/source/files.ts'
import type { FetchedPackage } from '../source/fetch.ts'
import { decodeInlineFiles } from '../source/inline.ts'
import type { PackageWarning } from '../source/warning.ts'
import { followAliases } from './aliases.ts'
import { checkReferences } from './check.ts'
import { refuseSeveralCompanies } from './companies.ts'
import { type Findings, toSlug } from './fields.ts'
import { type MarkdownFile, readMarkdownFile, readMarkdownFiles } from './markdown-file.ts'
import type { CompanyPackage, PackageSkill } from './package.ts'
import { filesOfPackage, isDocument, noteIgnoredFiles, skillFilesOf } from './package-layout.ts'
import { readCompany } from './read-company.ts'
import { readAgent, readTeam } from './read-people.ts'
import { readGoals, readLabels, readProject, readTask } from './read-work.ts'
import { readSidecar } from './sidecar.ts'

/** A package that was read. */
export interface ReadPackage {
  content: CompanyPackage
  warnings: PackageWarning[]
  /** Equal digests mean equal files. */
  filesDigest: string
}

/** Reads a fetched package in a thread: to parse 20 MB of YAML takes many seconds. */
export const readPackageJob: ReadJob<Pick<FetchedPackage, 'files' | 'folder'>, ReadPackage> = {
  name: 'read-package',
  thread: 'packages',
  run(_, { files: fetched, folder }) {
    const files = fetched instanceof Map ? fetched : decodeInlineFiles(fetched)
    refuseSeveralCompanies({ files, folder })
    return { ...readPackage(files), filesDigest: digestOfFiles(files) }
  },
}

const digestOfFiles = (files: SourceFiles): string =>
  hash(
    'sha256',
    [...files]
      .sort(([a], [b]) => compare(a, b))
      .map(([path, bytes]) => `${path}\0${hash('sha256', bytes)}`)
      .join('\n'),
  )

/** The time limit for reading a package. A package of 170 agents takes 300 ms. */
export const READ_LIMITS = {
  timeLimitMs: 20_000,
  timeLimitError: new AppError('semantic', 'The package takes longer than 20 seconds to read. Make it smaller.'),
}

/**
 * Reads a package with the layout `agentcompanies/v1`. Every section may be
 * missing. Content that can be ignored causes a warning.
 *
 * @throws AppError that lists all problems by file
 */
export function readPackage(all: SourceFiles): { content: CompanyPackage; warnings: PackageWarning[] } {
  const files = filesOfPackage(all)
  const findings: Findings = { problems: [], warnings: [] }
  const sidecar = readSidecar(files, findings)
  const markdown: MarkdownFile[] = []
  const skillFiles = skillFilesOf(files)
  const read = (pattern: RegExp, among = files) => {
    const found = readMarkdownFiles(among, pattern, findings)
    markdown.push(...found)
    return found
  }
  const companyFile = readMarkdownFile(files, 'COMPANY.md', '', findings)
  const tasks = inSidecarOrder(
    [...read(/^projects\/[^/]+\/tasks\/([^/]+)\/TASK\.md$/), ...read(/^tasks\/([^/]+)\/TASK\.md$/)],
    [...Object.keys(sidecar.section('tasks')), ...Object.keys(sidecar.section('routines'))],
  ).map((file) => readTask(file, sidecar))
  const content: CompanyPackage = {
    company: readCompany(companyFile, sidecar, findings),
    goals: readGoals(companyFile, sidecar, findings),
    labels: readLabels(sidecar, findings),
    skills: read(/^skills\/(?:.+\/)?([^/]+)\/SKILL\.md$/, skillFiles).map((file) => readSkill(file, files)),
    agents: read(/^agents\/([^/]+)\/AGENTS\.md$/).map((file) => readAgent(file, sidecar)),
    teams: read(/^teams\/([^/]+)\/TEAM\.md$/).map(readTeam),
    projects: read(/^projects\/([^/]+)\/PROJECT\.md$/).map((file) => readProject(file, sidecar)),
    tasks: tasks.flatMap(({ task }) => task ?? []),
    routines: tasks.flatMap(({ routine }) => routine ?? []),
    documents: new Map([...files].filter(([path]) => isDocument(path)).sort(([a], [b]) => compare(a, b))),
  }
  noteIgnoredFiles(files, skillFiles, findings)
  if (isEmpty(content)) {
    findings.problems.push({
      path: 'source',
      message: 'contains no company: it has no COMPANY.md, agents, projects, tasks or skills',
    })
  }
  followAliases(content, markdown)
  noteTooMany(content, findings)
  if (findings.problems.length === 0) checkReferences(content, findings)
  refuseProblems(findings)
  if (content.company.about.license === null && ![...content.documents.keys()].some((path) => /^LICEN/.test(path))) {
    findings.warnings.push({
      code: 'no_license',
      path: null,
      message: 'The package names no license. Ask its author whether you may use and share it.',
    })
  }
  return { content, warnings: findings.warnings }
}

/** Sorts tasks by their position in the sidecar, which is the order of their issue numbers. Other tasks come last. */
function inSidecarOrder(files: MarkdownFile[], keys: readonly string[]): MarkdownFile[] {
  const ranks = new Map(keys.map((key, rank) => [key, rank]))
  const rankOf = ({ path, slug }: MarkdownFile) => {
    const project = /^projects\/([^/]+)\//.exec(path)?.[1]
    return ranks.get(project === undefined ? slug : `${toSlug(project)}/${slug}`) ?? keys.length
  }
  return files.sort((a, b) => rankOf(a) - rankOf(b))
}

function readSkill({ path, slug, fields, findings }: MarkdownFile, files: SourceFiles): PackageSkill {
  const own = filesBelow(files, path.slice(0, -'SKILL.md'.length))
  validateSkillFiles(own)
  assertSkillSize(path, own)
  const inventory = takeInventory(own)
  const digest = digestOf(inventory)
  const skill = { slug, name: fields.line('name') ?? slug, description: fields.text('description'), digest, files: own }
  const programs = inventory.filter((entry) => entry.kind === 'script').map((entry) => entry.path)
  if (programs.length > 0) {
    const names = programs.slice(0, 5).join(', ')
    const message = `The skill contains programs that agents may run: ${names}${programs.length > 5 ? ', …' : ''}.`
    findings.warnings.push({ code: 'executable', path, message })
  }
  return skill
}

const isEmpty = ({ company, agents, projects, tasks, routines, skills }: CompanyPackage) =>
  company.name === null && agents.length + projects.length + tasks.length + routines.length + skills.length === 0

/** The most that one import may create: other writes wait for it, and each agent takes about 2 ms. */
const MAX_AGENTS = 500
const MAX_ENTITIES = 2_000

function noteTooMany(content: CompanyPackage, findings: Findings): void {
  const { goals, labels, skills, agents, teams, projects, tasks, routines } = content
  const entities = [goals, labels, skills, agents, teams, projects, tasks, routines].reduce(
    (n, all) => n + all.length,
    0,
  )
  const problem = (message: string) => void findings.problems.push({ path: 'source', message })
  if (agents.length > MAX_AGENTS) problem(`has ${agents.length} agents; an import may have at most ${MAX_AGENTS}`)
  if (entities > MAX_ENTITIES) problem(`has ${entities} entities; an import may have at most ${MAX_ENTITIES}`)
}

/** @throws AppError if there are problems */
function refuseProblems({ problems }: Findings): void {
  if (problems.length === 0) return
  problems.sort((a, b) => compare(a.path, b.path))
  const first = problems.slice(0, 5).map(({ path, message }) => `${path}: ${message}`)
  const more = problems.length > 5 ? ` And ${problems.length - 5} more.` : ''
  throw new AppError('semantic', `The package cannot be imported. ${first.join('; ')}.${more}`, {
    fields: problems.slice(0, 50),
  })
}
