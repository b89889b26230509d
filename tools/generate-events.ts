/**
 * Writes docs/reference/events.md, the page of all live events, from the lists
 * from which the code publishes. Run `npm run events` after a change; a test fails
 * if you forgot it.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { ACTIONS } from '../src/access/activity/actions.ts'
import { ActivityEvent, ENTITY_SUMMARIES, OTHER_EVENTS } from '../src/access/activity/live-events.ts'
import { keyOf } from '../src/clients/guide/keys.ts'
import { fieldDescription } from '../src/http/field-descriptions.ts'
import { packageRoot } from '../src/platform/package-root.ts'

export const EVENTS_PAGE = path.join(packageRoot(), 'docs/reference/events.md')

export function generateEvents(): string {
  const actions = Object.entries(ACTIONS)
  return `# Events

Each live event of a company has an id, a type and JSON data. [Live events](../guides/live-events.md) describes the stream.

This page is generated from the code (\`npm run events\`).

## Data of an activity

Most events report an activity. The type is the action. The data are:

${fieldTable(ActivityEvent)}

Example:

\`\`\`json
${JSON.stringify(EXAMPLE, null, 2)}
\`\`\`

\`GET /api/companies/:companyId/activity\` returns the same activities, with their details.

## Fields of the entity

| entityType | fields of entity |
| --- | --- |
${Object.entries(ENTITY_SUMMARIES)
  .map(([type, fields]) => `| \`${type}\` | ${fields.map((name) => `\`${name}\``).join(', ')} |`)
  .join('\n')}

Every other type of entity has \`entity: null\`.

## Activities

${[...Map.groupBy(actions, ([action]) => action.split('.')[0]!)].map(([noun, ones]) => activityTable(noun, ones)).join('\n\n')}

## Other events

${Object.entries(OTHER_EVENTS)
  .map(([type, { text, data }]) => `### ${type}\n\n${text}\n\n${fieldTable(data)}`)
  .join('\n\n')}

### reset

The stream begins with this event if the id in \`Last-Event-ID\` is too old. The data are \`{}\`. Read again what you display.
`
}

const activityTable = (noun: string, actions: readonly (readonly [string, { entity: string; text: string }])[]) =>
  `### ${noun}

| event | entityType | published when |
| --- | --- | --- |
${actions.map(([action, { entity, text }]) => `| \`${action}\` | \`${entity}\` | ${text} |`).join('\n')}`

function fieldTable(schema: GenericSchema): string {
  const { properties = {}, required = [] } = toJsonSchema(schema, { errorMode: 'ignore', typeMode: 'output' })
  const rows = Object.entries(properties).map(([name, property]) => {
    const { type, description } = keyOf(name, property as object, required.includes(name))
    const text = description || fieldDescription(name)
    return `| \`${name}\` | ${type.replaceAll('|', '\\|')} | ${text} |`
  })
  return `| field | type | meaning |\n| --- | --- | --- |\n${rows.join('\n')}`
}

const EXAMPLE: ActivityEvent = {
  activityId: '0199e0a4-5c1e-7c6f-9d5e-0b7c4f5d2a10',
  actorType: 'agent',
  actorId: '0199e0a4-5b02-7d11-8a51-4f4f0f1b3c22',
  actorName: 'Kit',
  entityType: 'issue',
  entityId: '0199e0a4-5b77-7a0e-b3d2-9a1c7e6d5b33',
  entity: {
    identifier: 'TER-6',
    title: 'Draw the map',
    status: 'in_progress',
    priority: 'high',
    assigneeAgentId: '0199e0a4-5b02-7d11-8a51-4f4f0f1b3c22',
  },
  agentId: '0199e0a4-5b02-7d11-8a51-4f4f0f1b3c22',
  runId: '0199e0a4-5c01-7b90-8f10-2d3e4f5a6b44',
  createdAt: '2026-11-21T09:00:00.000Z',
}

if (import.meta.main) writeFileSync(EVENTS_PAGE, generateEvents())
