/**
 * Writes the type declarations of the published client. Its sources derive their
 * types from the endpoint table, and so from all of src/ and from libraries that
 * users do not install. The published declarations therefore take the types of
 * the API from the OpenAPI document.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { JsonSchema } from '@valibot/to-json-schema'
import { compile } from 'json-schema-to-typescript'
import { COMPONENTS } from '../src/clients/docs/components.ts'
import { DOCUMENTED_ENDPOINTS } from '../src/clients/routes.ts'
import { openapiDocument } from '../src/http/openapi.ts'
import type { Operation } from '../src/http/operation.ts'
import { packageRoot } from '../src/platform/package-root.ts'

/** The sources of the client whose declarations are published, beside src/api.ts. */
const SOURCES = [
  'clients/client/index.ts',
  'clients/client/client.ts',
  'clients/client/error.ts',
  'clients/client/types.ts',
  'clients/client/link.ts',
  'platform/errors.ts',
]

/** Writes the declarations into a folder. `clients/client/index.d.ts` in it is the entry. */
export async function writeClientTypes(folder: string): Promise<void> {
  const cache = path.join(packageRoot(), 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const project = mkdtempSync(path.join(cache, 'client-types-'))
  try {
    for (const name of SOURCES) cpSync(path.join(packageRoot(), 'src', name), path.join(project, name))
    writeFileSync(path.join(project, 'api.ts'), await generateApiTypes())
    writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify(projectOf(folder)))
    const tsc = path.join(packageRoot(), 'node_modules', 'typescript', 'bin', 'tsc')
    execFileSync(process.execPath, [tsc, '--project', project], { stdio: ['ignore', 'inherit', 'inherit'] })
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

const projectOf = (outDir: string) => ({
  extends: path.join(packageRoot(), 'tsconfig.json'),
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rewriteRelativeImportExtensions: true,
    lib: ['es2024', 'dom'],
    rootDir: '.',
    outDir,
  },
  include: ['.'],
  exclude: [],
})

/** Returns the module that stands for src/api.ts: `EndpointName`, `WireOf`, and the named schemas of the API. */
export async function generateApiTypes(): Promise<string> {
  const access = { mode: 'local_trusted', requireToken: false, trustProxy: false } as const
  const { paths, components } = openapiDocument(DOCUMENTED_ENDPOINTS, COMPONENTS, access, 'session')
  const wires = Object.entries(paths).flatMap(([url, item]) =>
    Object.entries(item).map(([method, operation]) => [
      `${method.toUpperCase()} ${url.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      wireOf(operation),
    ]),
  )
  const schema = {
    title: 'Wires',
    description: 'What a client sends to each endpoint and receives from it.',
    ...object(Object.fromEntries(wires)),
    definitions: components.schemas,
  }
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/definitions/')
  const types = await compile(JSON.parse(text), 'Wires', {
    additionalProperties: false,
    bannerComment: '',
    format: false,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
    unknownAny: true,
  })
  return `${types.replaceAll(REFERENCED_BY, '')}
/** The name of an endpoint, such as \`GET /api/issues/:issueId\`. */
export type EndpointName = keyof Wires

/** What a client sends to an endpoint and receives from it. */
export type WireOf<Name extends EndpointName> = Wires[Name]
`
}

/** The library names the root schema at each type. */
const REFERENCED_BY = / \* This interface was referenced by `Wires`'s JSON-Schema\n \* via the `definition` ".*"\.\n/g

function wireOf({ summary, description, parameters, requestBody, responses }: Operation): JsonSchema {
  const inPlace = (place: string) => parameters.filter((parameter) => parameter.in === place)
  const success = Object.entries(responses).find(([status]) => /^20[012]$/.test(status))?.[1]
  return {
    description: `${summary}. ${description}`,
    ...object({
      params: objectOf(inPlace('path')) ?? typescript('unknown'),
      query: objectOf(inPlace('query')) ?? typescript('undefined'),
      body: requestBody ? bodyOf(requestBody) : typescript('undefined'),
      response:
        success && 'content' in success && success.content
          ? bodyOf({ content: success.content })
          : typescript('undefined'),
    }),
  }
}

function objectOf(parameters: Operation['parameters']): JsonSchema | undefined {
  if (parameters.length === 0) return undefined
  const properties = parameters.map(({ name, description, schema }) => [name, { ...schema, description }])
  return object(
    Object.fromEntries(properties),
    parameters.filter(({ required }) => required).map(({ name }) => name),
  )
}

function bodyOf({
  required = true,
  content,
}: {
  required?: boolean
  content: NonNullable<Operation['requestBody']>['content']
}): JsonSchema {
  const json = content['application/json']?.schema
  const schema = json ?? (content['multipart/form-data'] ? typescript('FormData') : typescript('string'))
  return required ? schema : { anyOf: [schema, typescript('undefined')] }
}

/** A TypeScript type that JSON Schema cannot express. */
const typescript = (tsType: string) => ({ tsType }) as JsonSchema

const object = (properties: Record<string, unknown>, required = Object.keys(properties)) =>
  ({ type: 'object', required, properties, additionalProperties: false }) as JsonSchema
