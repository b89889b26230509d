import type { ResponseOf } from '../../client/types.ts'
import { EXIT } from '../../connection/exit-codes.ts'
import { choice, json, text, toggle } from '../command/flag.ts'
import { fields, table } from '../command/output.ts'
import { create, edit, list, noun, remove, verb, view } from '../command/verb.ts'

type Placement = ResponseOf<'GET /api/placements/:placement'>

const TYPES = ['ssh', 'slurm', 'kubernetes'] as const

/** The settings that have options of their own. `--settings` takes all of them. */
const SETTINGS = {
  host: text('--host <destination>', 'the host, as ssh takes it'),
  partition: text('--partition <partition>', 'the partition (slurm)'),
  namespace: text('--namespace <namespace>', 'the namespace (kubernetes)'),
  image: text('--image <image>', 'the image of the container (kubernetes)'),
  workdir: text('--workdir <folder>', 'the folder over there for runs and clones'),
  publicUrl: text('--public-url <url>', 'the URL under which its machines reach this API'),
  settings: json<Record<string, unknown>>('--settings <json>', 'further settings'),
}

const COMMON = {
  maxRuns: {
    ...text('--max-runs <count>', 'the maximum number of live runs in it'),
    parse: (given: string) => Number(given),
  },
  isDefault: toggle('--default', 'execute runs in it that name no placement'),
}

type Given = {
  [Name in Exclude<keyof typeof SETTINGS, 'settings'>]?: string
} & { settings?: Record<string, unknown>; maxRuns?: number; isDefault?: true }

function toBody({ maxRuns, isDefault, settings, ...named }: Given) {
  return {
    settings: { ...settings, ...named },
    ...(maxRuns !== undefined && { maxRuns }),
    ...(isDefault && { isDefault }),
  }
}

const describe = (placement: Placement) =>
  fields([
    ['Placement', placement.name],
    ['Type', placement.type],
    ['Default', placement.isDefault ? 'yes' : 'no'],
    ['Live runs', `${placement.liveRuns} of ${placement.maxRuns}`],
    ...Object.entries(placement.settings).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ])

export const placementCommand = () =>
  noun('placement', 'Placements: where runs execute besides this machine.', [
    list({
      summary: 'List the placements.',
      examples: ['placement list'],
      empty: 'There are no placements: all runs execute on this machine. Add one with `service placement add`.',
      load: async (scope) => scope.client.request('GET /api/placements'),
      columns: {
        Placement: ({ name }) => name,
        Type: ({ type }) => type,
        Where: ({ settings }) => String(settings.host ?? settings.partition ?? settings.namespace ?? ''),
        Runs: ({ liveRuns, maxRuns }) => `${liveRuns} of ${maxRuns}`,
        Default: ({ isDefault }) => (isDefault ? 'yes' : ''),
      },
    }),
    view({
      summary: 'Show a placement.',
      args: ['<placement>'],
      examples: ['placement view gpu'],
      load: async (scope, [placement]) =>
        scope.client.request('GET /api/placements/:placement', { params: { placement } }),
      text: describe,
    }),
    create({
      name: 'add',
      summary: 'Add a placement.',
      args: ['<name>'],
      flags: { type: { ...choice('-t, --type <type>', TYPES), always: true as const }, ...SETTINGS, ...COMMON },
      examples: ['placement add farm --type ssh --host build@farm.example.org --max-runs 20'],
      note: 'Then: service placement test <name>. An agent uses it by `service agent edit <agent> --runtime \'{"placement":"<name>"}\'`.',
      send: async (scope, [name], { type, ...given }) =>
        scope.client.request('POST /api/placements', { body: { name, type, ...toBody(given) } }),
      text: describe,
    }),
    edit({
      summary: 'Change a placement. Runs that have started keep the old settings.',
      args: ['<placement>'],
      flags: { ...SETTINGS, ...COMMON },
      examples: ['placement edit gpu --max-runs 50'],
      send: async (scope, [placement], given) =>
        scope.client.request('PATCH /api/placements/:placement', { params: { placement }, body: toBody(given) }),
      text: describe,
    }),
    verb({
      name: 'test',
      summary: 'Test a placement with a real probe.',
      args: ['<placement>'],
      examples: ['placement test gpu'],
      note: 'The exit code is 1 if something is missing.',
      async run(scope, [placement]) {
        const result = await scope.client.request('POST /api/placements/:placement/test', { params: { placement } })
        if (!result.ok) process.exitCode = EXIT.failure
        return {
          value: result,
          text: () => table(result.checks.map(({ ok, name, message }) => [ok ? 'ok' : 'FAILED', name, message])),
        }
      },
    }),
    remove({
      name: 'remove',
      summary: 'Remove a placement that nothing uses.',
      args: ['<placement>'],
      flags: { force: toggle('--force', 'also if it is in use: its live runs end as lost') },
      examples: ['placement remove attic --yes'],
      ask: ([name]) => `Remove the placement ${name}?`,
      send: async (scope, [placement], { force }) =>
        scope.client.request('DELETE /api/placements/:placement', {
          params: { placement },
          query: force ? { force: 'true' } : {},
        }),
      text: ({ name }) => `The placement ${name} is removed.`,
    }),
  ])
