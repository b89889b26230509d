import * as v from 'valibot'
import { validate } from '../../http/validate.ts'
import { invalid } from '../../platform/errors.ts'

/** The engines that execute runs on other machines. */
export const PLACEMENT_TYPES = ['ssh', 'slurm', 'kubernetes'] as const
export type PlacementType = (typeof PLACEMENT_TYPES)[number]

/** A word for the command line of an engine. It must not look like an option. */
const word = v.pipe(
  v.string(),
  v.regex(/^[\w@%+=:,./[\]][\w@%+=:,./[\]-]{0,199}$/, 'must be one word that does not begin with a dash'),
)

/** The name of an object in a Kubernetes cluster. */
const name = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be lower-case letters, digits, dashes and dots'),
)

/** A quantity as Kubernetes writes it. */
const quantity = v.pipe(v.string(), v.regex(/^\d+(\.\d+)?(m|[kKMGT]i?)?$/, 'must be a quantity, such as 500m or 2Gi'))

const count = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most))

const described = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.optional(v.pipe(schema, v.description(description)))

/** An absolute path, or one below the home directory. It goes into shell scripts, in single quotes. */
const folder = v.pipe(
  v.string(),
  v.regex(/^[\w@%+=:,. /-]{1,500}$/, 'must be a path of letters, digits, blanks and @%+=:,._/-'),
  v.check((path) => !path.startsWith('-'), 'must not begin with a dash'),
)

const COMMON = {
  workdir: described(
    folder,
    'The folder over there for runs and clones: absolute, or below the home directory. Default `.service-runs`.',
  ),
  node: described(folder, 'The Node program over there (22 or newer). Default `node`, found by PATH.'),
  publicUrl: described(
    v.pipe(
      v.string(),
      v.url(),
      v.check((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'must begin with https:// or http://'),
      v.transform((url) => url.replace(/\/+$/, '')),
    ),
    'The URL under which its machines reach this API. An ssh placement without one reaches the API through its connection (`ssh -R`).',
  ),
  lostAfterSec: described(
    count(86_400),
    'After this time without any report of a run, while its machine cannot be reached either, the run counts as lost. Default 600.',
  ),
}

const host = v.pipe(word, v.description('The destination for `ssh`: a host of your ssh configuration, or user@host.'))

const sshConfig = described(folder, 'The ssh configuration file on this machine (`ssh -F`). Default: your own.')

const SETTINGS = {
  ssh: v.strictObject({ host, sshConfig, ...COMMON }),
  slurm: v.strictObject({
    ...COMMON,
    partition: described(word, 'The partition. Default: that of the cluster.'),
    account: described(word, 'The account to charge.'),
    qos: described(word, 'The quality of service.'),
    cpus: described(count(1_000), 'CPUs for a run. Default 1.'),
    memoryMb: described(count(10_000_000), 'Memory for a run, in MB.'),
    gpus: described(word, 'GPUs for a run, as `sbatch --gpus` takes them.'),
    timeLimitSec: described(
      count(31_536_000),
      'The longest time limit of a job, in seconds: at most what the partition allows. By default, a job has the time limit of its run and 10 minutes.',
    ),
    setup: described(
      v.pipe(v.string(), v.maxLength(10_000)),
      'Shell commands for the start of each job, such as `module load nodejs`.',
    ),
    options: described(
      v.pipe(
        v.array(v.pipe(v.string(), v.regex(/^--[\w-]+(=[^\n\0]*)?$/, 'must be like --name=value'))),
        v.maxLength(50),
      ),
      'Further options for sbatch, such as `--constraint=big`.',
    ),
  }),
  kubernetes: v.strictObject({
    ...COMMON,
    image: v.pipe(word, v.description('The image of the container. It has Node and the programs of the agents.')),
    namespace: described(name, 'The namespace. Default: that of the context.'),
    context: described(word, 'The context of the kubectl configuration. Default: the current one.'),
    kubeconfig: described(folder, 'The kubectl configuration file on this machine. Default: that of kubectl.'),
    cpu: described(quantity, 'The CPUs to request, such as `500m` or `2`. Default `500m`.'),
    memory: described(quantity, 'The memory to request, which is also the limit, such as `2Gi`. Default `1Gi`.'),
    gpus: described(count(1_000), 'GPUs for a run (`nvidia.com/gpu`).'),
    serviceAccount: described(name, 'The service account of the pods. Its token is not mounted.'),
    pullSecret: described(name, 'The secret for pulling the image.'),
    volumeClaim: described(
      name,
      'The persistent volume claim for runs and clones. Default: an empty folder for each run.',
    ),
    runAsUser: described(count(2_000_000_000), 'The numeric user of the container, never root. Default 1000.'),
    timeLimitSec: described(
      count(31_536_000),
      'The longest time limit of a job, in seconds. By default, a job has the time limit of its run and 10 minutes.',
    ),
  }),
} as const

/** The schema of the settings of each type, for the documentation. */
export const settingsSchemas: Readonly<Record<PlacementType, v.GenericSchema>> = SETTINGS

type SettingsByType = { [Type in PlacementType]: v.InferOutput<(typeof SETTINGS)[Type]> }

/** A placement's type and its settings. */
export type TypedSettings = { [Type in PlacementType]: { type: Type; settings: SettingsByType[Type] } }[PlacementType]

export type SshSettings = SettingsByType['ssh']
export type SlurmSettings = SettingsByType['slurm']
export type KubernetesSettings = SettingsByType['kubernetes']

/**
 * Validates the settings of a placement.
 *
 * @throws AppError 400 that names each invalid setting
 */
export function parseSettings(type: PlacementType, settings: unknown): TypedSettings {
  const schema: v.GenericSchema<unknown, unknown> = SETTINGS[type]
  const parsed = { type, settings: validate(schema, settings, 'settings') } as TypedSettings
  if (type !== 'ssh' && parsed.settings.publicUrl === undefined) {
    throw invalid([
      { path: 'settings.publicUrl', message: `is missing: a ${type} placement reaches this API under that URL` },
    ])
  }
  return parsed
}
