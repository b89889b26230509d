import { SKILL_FILES } from '../../../organization/skill/limits.ts'
import { readFolder } from '../../../platform/source/folder.ts'
import type { ResponseOf } from '../../client/types.ts'
import { CliError, EXIT, lineOf } from '../../connection/exit-codes.ts'
import { LIMIT } from '../command/flag.ts'
import { fields, plain, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, list, noun, remove, view } from '../command/verb.ts'

type Skill = ResponseOf<'GET /api/skills/:skillId'>

const theSkill = async (scope: Scope, ref: string) => ({ skillId: await scope.find('skill', ref) })

const sourceOf = ({
  isReference,
  sourceType,
  sourceLocator,
}: Pick<Skill, 'isReference' | 'sourceType' | 'sourceLocator'>) =>
  isReference ? `${sourceLocator ?? 'reference'}, text not here` : (sourceLocator ?? sourceType)

const describe = (skill: Skill) =>
  fields([
    ['Skill', skill.key],
    ['Name', skill.name],
    ['Description', skill.description],
    ['Source', sourceOf(skill)],
    ['Trust', skill.trustLevel],
    ['Files', skill.fileInventory.map(({ path }) => path).join(', ')],
    ['Used by', skill.usedByAgents.map(({ name }) => name).join(', ')],
    ['Id', skill.id],
  ])

export const skillCommand = () =>
  noun('skill', 'Skills: instructions and files that agents use.', [
    list({
      summary: 'List the skills of the company.',
      flags: LIMIT,
      examples: ['skill list'],
      empty: 'There are no skills. Import one with `service skill create`.',
      page: 'skills',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/skills', { params: await scope.inCompany(), query }),
      columns: {
        Skill: ({ key }) => key,
        Name: ({ name }) => name,
        Files: ({ fileInventory }) => fileInventory.length,
        Source: ({ isReference, sourceType }) => (isReference ? 'reference, text not here' : sourceType),
        Id: ({ id }) => shortId(id),
      },
    }),
    view({
      summary: 'Show a skill with its files and the agents that use it.',
      args: ['<skill>'],
      examples: ['skill view weekly-report'],
      load: async (scope, [ref]) =>
        scope.client.request('GET /api/skills/:skillId', { params: await theSkill(scope, ref) }),
      text: describe,
    }),
    view({
      name: 'file',
      summary: 'Print a file of a skill.',
      args: ['<skill>', '[path]'],
      examples: ['skill file weekly-report', 'skill file weekly-report SKILL.md'],
      load: async (scope, [ref, path]) =>
        scope.client.request('GET /api/skills/:skillId/files', {
          params: await theSkill(scope, ref),
          query: path === undefined ? {} : { path },
        }),
      text: ({ content, encoding }) =>
        plain(encoding === 'utf8' ? content : Buffer.from(content, 'base64').toString('utf8')),
    }),
    create({
      summary: 'Import skills from a folder or a public repository.',
      args: ['<source>'],
      examples: ['skill create ./skills/tide-tables'],
      note: 'The source is a folder with SKILL.md, or https://github.com/OWNER/REPO[/tree/REF/FOLDER].',
      async send(scope, [source]) {
        const params = await scope.inCompany()
        const body = /^https:\/\//.test(source) ? { source } : { files: await filesOf(source) }
        return scope.client.request('POST /api/companies/:companyId/skills/import', { params, body })
      },
      text: ({ imported, warnings }) =>
        [...imported.map(({ key, outcome }) => `${key} is ${outcome}.`), ...warnings].join('\n'),
    }),
    act({
      name: 'fetch',
      summary: 'Download the texts of skills that refer to a repository.',
      args: [],
      examples: ['skill fetch'],
      send: async (scope) =>
        scope.client.request('POST /api/companies/:companyId/skills/fetch', { params: await scope.inCompany() }),
      text: ({ fetched, failed }) =>
        [
          `${fetched.length} fetched, ${failed.length} failed.`,
          ...failed.map(({ key, reason }) => `  ${key}: ${reason}`),
        ].join('\n'),
    }),
    remove({
      summary: 'Delete a skill and remove it from its agents.',
      args: ['<skill>'],
      examples: ['skill delete weekly-report --yes'],
      ask: ([ref]) => `Delete the skill ${ref}?`,
      send: async (scope, [ref]) =>
        scope.client.request('DELETE /api/skills/:skillId', { params: await theSkill(scope, ref) }),
      text: ({ name }) => `The skill ${name} is deleted.`,
    }),
  ])

async function filesOf(folder: string) {
  try {
    const { files } = await readFolder(folder, SKILL_FILES)
    return Object.fromEntries(
      [...files].map(([path, bytes]) => [
        path,
        { encoding: 'base64' as const, data: Buffer.from(bytes).toString('base64') },
      ]),
    )
  } catch (error) {
    throw new CliError(EXIT.usage, `Cannot read the folder ${folder}: ${lineOf(error)}`)
  }
}
