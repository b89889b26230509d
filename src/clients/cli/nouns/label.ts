import { LIMIT, text } from '../command/flag.ts'
import { shortId } from '../command/output.ts'
import { create, edit, list, noun, remove } from '../command/verb.ts'

export const labelCommand = () =>
  noun('label', 'Labels: coloured words on issues.', [
    list({
      summary: 'List the labels.',
      flags: LIMIT,
      examples: ['label list'],
      empty: 'There are no labels. Create one with `service label create`.',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/labels', { params: await scope.inCompany(), query }),
      columns: { Label: ({ name }) => name, Colour: ({ color }) => color, Id: ({ id }) => shortId(id) },
    }),
    create({
      summary: 'Create a label.',
      args: ['<name>'],
      flags: { color: text('--color <colour>', 'such as #1d4ed8') },
      examples: ['label create urgent --color "#b91c1c"'],
      send: async (scope, [name], body) =>
        scope.client.request('POST /api/companies/:companyId/labels', {
          params: await scope.inCompany(),
          body: { ...body, name },
        }),
      text: ({ name }) => `The label ${name} is created.`,
    }),
    edit({
      summary: 'Change a label.',
      args: ['<label>'],
      flags: { name: text('--name <name>'), color: text('--color <colour>', 'such as #1d4ed8') },
      examples: ['label edit bug --name defect'],
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/labels/:labelId', {
          params: { labelId: await scope.find('label', ref) },
          body,
        }),
      text: ({ name, color }) => `The label ${name} has the colour ${color}.`,
    }),
    remove({
      summary: 'Delete a label and remove it from its issues.',
      args: ['<label>'],
      examples: ['label delete bug --yes'],
      ask: ([ref]) => `Delete the label ${ref}?`,
      send: async (scope, [ref]) =>
        scope.client.request('DELETE /api/labels/:labelId', { params: { labelId: await scope.find('label', ref) } }),
      text: ({ name }) => `The label ${name} is deleted.`,
    }),
  ])
