import { type Fields, type Findings, readFields, toSlug } from './fields.ts'
import type { MarkdownFile } from './markdown-file.ts'
import { type About, type PackageCompany, SCHEMA } from './package.ts'
import type { Sidecar } from './sidecar.ts'

/** Reads COMPANY.md and the company section of the sidecar. Both may be missing. */
export function readCompany(file: MarkdownFile | undefined, sidecar: Sidecar, findings: Findings): PackageCompany {
  const fields = file?.fields ?? readFields({}, 'COMPANY.md', findings)
  const ours = readFields(sidecar.section('company'), `${sidecar.path} (company)`, findings)
  const schema = fields.line('schema')
  if (schema !== null && schema !== SCHEMA) {
    const message = `The schema is ${schema}, not ${SCHEMA}. The package is read as ${SCHEMA}.`
    findings.warnings.push({ code: 'schema', path: 'COMPANY.md', message })
  }
  const brandColor = ours.line('brandColor')
  if (brandColor !== null && !/^#[0-9a-f]{6}$/i.test(brandColor))
    ours.problem('brandColor must be a colour like #1a2b3c')
  const name = fields.line('name')
  const slug = toSlug(fields.line('slug') ?? '')
  const stored = { matter: fields.rest(COMPANY_FIELDS), sidecar: ours.rest(SIDECAR_FIELDS) }
  return {
    name,
    slug: slug || toSlug(name ?? '') || 'company',
    description: fields.text('description'),
    brandColor,
    budgetMonthlyCents: ours.count('budgetMonthlyCents', 1_000_000_000) ?? 0,
    requireBoardApprovalForNewAgents: ours.flag('requireBoardApprovalForNewAgents'),
    about: {
      ...readAbout(fields, file?.body ?? ''),
      slug: slug === toSlug(name ?? '') ? null : slug || null,
      kept: stored,
      sections: sidecar.others,
    },
  }
}

const COMPANY_FIELDS = [
  ...['name', 'description', 'slug', 'schema', 'kind', 'version', 'license', 'homepage', 'authors', 'tags', 'goals'],
]

const SIDECAR_FIELDS = ['brandColor', 'budgetMonthlyCents', 'requireBoardApprovalForNewAgents']

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
  const { name, ...more } = author as Record<string, unknown>
  return typeof name === 'string' ? { name: name.slice(0, 200), ...more } : undefined
}
