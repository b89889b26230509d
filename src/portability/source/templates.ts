import { readdir } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { unprocessable } from '../../platform/errors.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { readPackage } from '../read/read.ts'
import type { PackageFiles } from './files.ts'
import { readFolder } from './folder.ts'

const FOLDER = 'templates'

/** A company to begin with. */
export const Template = v.strictObject({
  name: v.pipe(v.string(), v.description('What an import of source type `template` names.')),
  title: v.string(),
  description: v.nullable(v.string()),
  agents: v.array(
    v.strictObject({
      slug: v.string(),
      name: v.string(),
      title: v.nullable(v.string()),
      role: v.string(),
      reportsTo: v.nullable(v.string()),
    }),
  ),
  projects: v.number(),
  issues: v.number(),
  skills: v.number(),
})

/** The templates that come with the service, by name. */
export async function listTemplates(): Promise<v.InferOutput<typeof Template>[]> {
  const names = await templateNames()
  return Promise.all(
    names.map(async (name) => {
      const { company, agents, projects, tasks, skills } = readPackage(await readTemplate(name)).content
      return {
        name,
        title: company.name ?? name,
        description: company.description,
        agents: agents.map(({ slug, name, title, role, reportsTo }) => ({ slug, name, title, role, reportsTo })),
        projects: projects.length,
        issues: tasks.length,
        skills: skills.length,
      }
    }),
  )
}

/** @throws AppError 422 that lists the templates there are */
export async function readTemplate(name: string): Promise<PackageFiles> {
  const names = await templateNames()
  if (!names.includes(name)) throw unprocessable('source.name', `must be one of ${names.join(', ')}`)
  return readFolder(path.join(packageRoot(), FOLDER, name))
}

const templateNames = async (): Promise<string[]> => (await readdir(path.join(packageRoot(), FOLDER))).sort()
