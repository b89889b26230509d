import { inCompany } from './find.ts'
import { table } from './output.ts'
import { noun, type Options, show, verb } from './verb.ts'

export const skillCommand = () =>
  noun('skill', 'Skills: instructions and files that agents use.', [
    verb('list', 'List the skills of the company.', ['skill list']).action(listSkills),
    verb('fetch', 'Download the texts of skills that refer to a repository.', ['skill fetch']).action(fetchSkills),
  ])

async function listSkills(options: Options): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const skills = await client.request('GET /api/companies/:companyId/skills', { params: { companyId } })
  show(options, skills, () =>
    table([
      ['Skill', 'Name', 'Files', 'Source'],
      ...skills.map(({ key, name, fileInventory, isReference, sourceType }) => [
        key,
        name,
        `${fileInventory.length}`,
        isReference ? 'reference, text not here' : sourceType,
      ]),
    ]),
  )
}

async function fetchSkills(options: Options): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const result = await client.request('POST /api/companies/:companyId/skills/fetch', { params: { companyId } })
  show(options, result, () =>
    [
      `${result.fetched.length} fetched, ${result.failed.length} failed.`,
      ...result.failed.map(({ key, reason }) => `  ${key}: ${reason}`),
    ].join('\n'),
  )
}
