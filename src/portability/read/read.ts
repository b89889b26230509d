import { checkFiles } from '../../organization/skill/paths.ts'
import { AppError } from '../../platform/errors.ts'
import { programsOf } from '../skills.ts'
import { atRoot, below, compare, compareNaturally, type PackageFiles, textOf } from '../source/files.ts'
import { checkReferences } from './check.ts'
import { type Fields, type Findings, readFields, toSlug } from './fields.ts'
import type { About, CompanyPackage, PackageCompany, PackageSkill, PackageWarning } from './package.ts'
import { SCHEMA } from './package.ts'
import { readAgent, readTeam } from './read-people.ts'
import { readGoals, readLabels, readProject, readTask } from './read-work.ts'
import { readSidecar } from './sidecar.ts'
import { readFrontmatter, YamlFault } from './yaml.ts'

/** A markdown file of the layout, with the slug that its folder gives it. */
export interface Source {
  path: string
  slug: string
  fields: Fields
  body: string
  findings: Findings
}

/**
 * Reads a package of the layout `agentcompanies/v1`, leniently: every section
 * may be missing, and what is merely odd is a warning.
 *
 * @throws AppError that names everything that is wrong, file by file
 */
export function readPackage(all: PackageFiles): { content: CompanyPackage; warnings: PackageWarning[] } {
  const files = atRoot(all)
  const findings: Findings = { problems: [], warnings: [] }
  const sidecar = readSidecar(files, findings)
  const read = (pattern: RegExp) => readSources(files, pattern, findings)
  const companyFile = openSource(files, 'COMPANY.md', '', findings)
  const tasks = inSidecarOrder(
    [...read(/^projects\/[^/]+\/tasks\/([^/]+)\/TASK\.md$/), ...read(/^tasks\/([^/]+)\/TASK\.md$/)],
    [...Object.keys(sidecar.section('tasks')), ...Object.keys(sidecar.section('routines'))],
  ).map((source) => readTask(source, sidecar))
  const content: CompanyPackage = {
    company: readCompany(companyFile, sidecar.section('company'), sidecar.path, findings),
    goals: readGoals(companyFile, sidecar, findings),
    labels: readLabels(sidecar, findings),
    skills: read(/^skills\/([^/]+)\/SKILL\.md$/).map((source) => readSkill(source, files)),
    agents: read(/^agents\/([^/]+)\/AGENTS\.md$/).map((source) => readAgent(source, sidecar)),
    teams: read(/^teams\/([^/]+)\/TEAM\.md$/).map(readTeam),
    projects: read(/^projects\/([^/]+)\/PROJECT\.md$/).map((source) => readProject(source, sidecar)),
    tasks: tasks.flatMap(({ task }) => task ?? []),
    routines: tasks.flatMap(({ routine }) => routine ?? []),
    documents: new Map([...files].filter(([path]) => DOCUMENTS.has(path))),
  }
  noteIgnored(files, findings)
  if (isEmpty(content)) {
    findings.problems.push({
      path: 'source',
      message: 'holds no company: there is no COMPANY.md and no agents, projects, tasks or skills',
    })
  }
  if (findings.problems.length === 0) checkReferences(content, findings)
  refuseProblems(findings)
  if (content.company.about.license === null && ![...content.documents.keys()].some((path) => /^LICEN/.test(path))) {
    findings.warnings.push({
      code: 'no_license',
      path: null,
      message: 'The package names no license: nobody says that you may use and share it.',
    })
  }
  return { content, warnings: findings.warnings }
}

/** Tasks in the order that the sidecar names them in, which is that of their numbers; then the others. */
function inSidecarOrder(sources: Source[], keys: readonly string[]): Source[] {
  const ranks = new Map(keys.map((key, rank) => [key, rank]))
  const rankOf = ({ path, slug }: Source) => {
    const project = /^projects\/([^/]+)\//.exec(path)?.[1]
    return ranks.get(project === undefined ? slug : `${toSlug(project)}/${slug}`) ?? keys.length
  }
  return sources.sort((a, b) => rankOf(a) - rankOf(b))
}

/** Files of the package as a whole, kept as they are. A license must stay with what it is about. */
export const DOCUMENTS: ReadonlySet<string> = new Set(['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'NOTICE', 'README.md'])

function readSources(files: PackageFiles, pattern: RegExp, findings: Findings): Source[] {
  const seen = new Map<string, string>()
  return [...files.keys()]
    .filter((path) => pattern.test(path))
    .sort(compareNaturally)
    .flatMap((path) => {
      const folder = pattern.exec(path)![1]!
      const source = openSource(files, path, toSlug(folder), findings)
      if (!source) return []
      const slug = source.slug || toSlug(source.fields.line('name') ?? '') || folderKind(path)
      const scope = `${path.split('/').slice(0, -2).join('/')}/${slug}`
      const twin = seen.get(scope)
      seen.set(scope, path)
      if (twin !== undefined) source.fields.problem(`has the slug ${slug}, and so has ${twin}; rename one of them`)
      return [{ ...source, slug }]
    })
}

/** `agents/🚀/AGENTS.md` is the agent `agent`, unless its name says more. */
const folderKind = (path: string) => path.split('/').at(-3)!.replace(/s$/, '')

/** Reads one file; undefined when it is not there, or is so wrong that nothing can be read of it. */
function openSource(files: PackageFiles, path: string, slug: string, findings: Findings): Source | undefined {
  const bytes = files.get(path)
  if (!bytes) return undefined
  try {
    const text = textOf(bytes)
    if (text === undefined) throw new YamlFault('is no text: it must be UTF-8 without NUL')
    const { matter, body } = readFrontmatter(text)
    if (body.length > MAX_BODY) throw new YamlFault(`is longer than ${MAX_BODY} characters`)
    return { path, slug, body, findings, fields: readFields(matter, path, findings) }
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    findings.problems.push({
      path,
      message: `${/YAML|mapping/.test(error.message) ? 'its frontmatter ' : ''}${error.message}`,
    })
    return undefined
  }
}

/** As long as any text of the API may be. */
const MAX_BODY = 100_000

function readCompany(
  source: Source | undefined,
  extra: Record<string, unknown>,
  sidecarPath: string,
  findings: Findings,
): PackageCompany {
  const fields = source?.fields ?? readFields({}, 'COMPANY.md', findings)
  const ours = readFields(extra, `${sidecarPath} (company)`, findings)
  const schema = fields.line('schema')
  if (schema !== null && schema !== SCHEMA) {
    const message = `The schema is ${schema}, not ${SCHEMA}; it is read as if it were that.`
    findings.warnings.push({ code: 'schema', path: 'COMPANY.md', message })
  }
  const brandColor = ours.line('brandColor')
  if (brandColor !== null && !/^#[0-9a-f]{6}$/i.test(brandColor))
    ours.problem('brandColor must be a colour like #1a2b3c')
  fields.noteUnknown(COMPANY_FIELDS)
  const name = fields.line('name')
  return {
    name,
    slug: toSlug(fields.line('slug') ?? '') || toSlug(name ?? '') || 'company',
    description: fields.text('description'),
    brandColor,
    budgetMonthlyCents: ours.count('budgetMonthlyCents', 1_000_000_000) ?? 0,
    requireBoardApprovalForNewAgents: ours.flag('requireBoardApprovalForNewAgents'),
    about: readAbout(fields, source?.body ?? ''),
  }
}

const COMPANY_FIELDS = [
  ...['name', 'description', 'slug', 'schema', 'kind', 'version', 'license', 'homepage', 'authors', 'tags', 'goals'],
  ...['includes', 'metadata', 'requirements'],
]

function readAbout(fields: Fields, body: string): About {
  const authors = fields.get('authors')
  return {
    body,
    version: fields.line('version'),
    license: fields.line('license'),
    homepage: fields.line('homepage'),
    authors: (Array.isArray(authors) ? authors : []).flatMap((author) => authorOf(author) ?? []),
    tags: fields.list('tags'),
  }
}

function authorOf(author: unknown): About['authors'][number] | undefined {
  if (typeof author === 'string') return { name: author.slice(0, 200) }
  if (typeof author !== 'object' || author === null) return undefined
  const { name, email } = author as Record<string, unknown>
  if (typeof name !== 'string') return undefined
  return { name: name.slice(0, 200), ...(typeof email === 'string' && { email: email.slice(0, 200) }) }
}

function readSkill({ path, slug, fields, findings }: Source, files: PackageFiles): PackageSkill {
  const own = below(files, path.slice(0, -'SKILL.md'.length))
  checkFiles(own)
  const skill = { slug, name: fields.line('name') ?? slug, description: fields.text('description'), files: own }
  const programs = programsOf(skill)
  if (programs.length > 0) {
    const names = programs.slice(0, 5).join(', ')
    const message = `The skill brings programs that agents may run: ${names}${programs.length > 5 ? ', …' : ''}.`
    findings.warnings.push({ code: 'executable', path, message })
  }
  return skill
}

function noteIgnored(files: PackageFiles, findings: Findings): void {
  const isKnown = (path: string) =>
    DOCUMENTS.has(path) ||
    /^(COMPANY\.md|\.(service|paperclip)\.ya?ml|skills\/[^/]+\/.+|agents\/[^/]+\/AGENTS\.md|teams\/[^/]+\/TEAM\.md)$/.test(
      path,
    ) ||
    /^(projects\/[^/]+\/PROJECT\.md|(projects\/[^/]+\/)?tasks\/[^/]+\/TASK\.md)$/.test(path)
  const ignored = [...files.keys()].filter((path) => !isKnown(path))
  if (ignored.length === 0) return
  const message = `${ignored.length} files are not of the layout and were left out: ${ignored.slice(0, 5).join(', ')}${ignored.length > 5 ? ', …' : ''}.`
  findings.warnings.push({ code: 'left_out', path: null, message })
}

const isEmpty = ({ company, agents, projects, tasks, routines, skills }: CompanyPackage) =>
  company.name === null && agents.length + projects.length + tasks.length + routines.length + skills.length === 0

function refuseProblems({ problems }: Findings): void {
  if (problems.length === 0) return
  problems.sort((a, b) => compare(a.path, b.path))
  const first = problems.slice(0, 5).map(({ path, message }) => `${path}: ${message}`)
  const more = problems.length > 5 ? ` And ${problems.length - 5} more.` : ''
  throw new AppError('semantic', `The package cannot be imported. ${first.join('; ')}.${more}`, {
    fields: problems.slice(0, 50),
  })
}
