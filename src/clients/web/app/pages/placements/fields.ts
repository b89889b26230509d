/** The types of placements, with their names. */
export const TYPES = {
  ssh: 'A machine (ssh)',
  slurm: 'A cluster (Slurm)',
  kubernetes: 'A cluster (Kubernetes)',
} as const
export type PlacementType = keyof typeof TYPES

export interface SettingField {
  key: string
  label: string
  hint?: string
  placeholder?: string
  /** `lines`: a text of several lines; `list`: one item in each line. */
  kind?: 'number' | 'lines' | 'list'
  isRequired?: boolean
}

const COMMON: readonly SettingField[] = [
  {
    key: 'workdir',
    label: 'Folder',
    placeholder: '.service-runs',
    hint: 'For runs and clones: absolute, or below the home directory.',
  },
  { key: 'node', label: 'Node program', placeholder: 'node', hint: 'Version 22 or newer.' },
  {
    key: 'lostAfterSec',
    label: 'Lost after',
    kind: 'number',
    placeholder: '600',
    hint: 'Seconds without a report, while its machine cannot be reached.',
  },
]

const URL_HINT = 'The URL under which its machines reach this API.'

/** The settings of each type, in the order of the form. The server validates them. */
export const SETTINGS: Record<PlacementType, readonly SettingField[]> = {
  ssh: [
    {
      key: 'host',
      label: 'Host',
      isRequired: true,
      placeholder: 'gpu.example.org',
      hint: 'A host of your ssh configuration, or user@host.',
    },
    {
      key: 'sshConfig',
      label: 'ssh configuration',
      placeholder: '~/.ssh/config',
      hint: 'A file on the machine of the server.',
    },
    {
      key: 'publicUrl',
      label: 'URL of this API',
      hint: `${URL_HINT} Without it, the connection carries the requests.`,
    },
    ...COMMON,
  ],
  slurm: [
    {
      key: 'publicUrl',
      label: 'URL of this API',
      isRequired: true,
      placeholder: 'https://service.example.org',
      hint: URL_HINT,
    },
    { key: 'partition', label: 'Partition' },
    { key: 'account', label: 'Account' },
    { key: 'qos', label: 'Quality of service' },
    { key: 'cpus', label: 'CPUs of a run', kind: 'number', placeholder: '1' },
    { key: 'memoryMb', label: 'Memory of a run, in MB', kind: 'number' },
    { key: 'gpus', label: 'GPUs of a run' },
    { key: 'timeLimitSec', label: 'Longest job, in seconds', kind: 'number' },
    { key: 'setup', label: 'Set-up commands', kind: 'lines', placeholder: 'module load nodejs' },
    {
      key: 'options',
      label: 'Further options of sbatch',
      kind: 'list',
      placeholder: '--constraint=big',
      hint: 'One option a line.',
    },
    ...COMMON,
  ],
  kubernetes: [
    {
      key: 'publicUrl',
      label: 'URL of this API',
      isRequired: true,
      placeholder: 'https://service.example.org',
      hint: URL_HINT,
    },
    {
      key: 'image',
      label: 'Image',
      isRequired: true,
      placeholder: 'registry.example.org/agents:1',
      hint: 'It has Node and the programs of the agents.',
    },
    { key: 'namespace', label: 'Namespace', placeholder: 'default' },
    { key: 'context', label: 'Context of kubectl' },
    { key: 'kubeconfig', label: 'kubectl configuration', hint: 'A file on the machine of the server.' },
    { key: 'cpu', label: 'CPUs of a run', placeholder: '500m' },
    { key: 'memory', label: 'Memory of a run', placeholder: '1Gi' },
    { key: 'gpus', label: 'GPUs of a run', kind: 'number' },
    {
      key: 'volumeClaim',
      label: 'Volume claim',
      hint: 'For runs and clones. Without it, each run has an empty folder.',
    },
    { key: 'pullSecret', label: 'Secret for the image' },
    { key: 'serviceAccount', label: 'Service account' },
    { key: 'runAsUser', label: 'User number', kind: 'number', placeholder: '1000' },
    { key: 'timeLimitSec', label: 'Longest job, in seconds', kind: 'number' },
    ...COMMON,
  ],
}

/** Converts a setting to the text of its field. */
export const textOfSetting = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : String(value ?? ''))

/** Converts the texts of the fields to settings. A field that was emptied removes its setting. */
export function toSettings(
  type: PlacementType,
  typed: Readonly<Record<string, string>>,
  isNew: boolean,
): Record<string, unknown> {
  return Object.fromEntries(
    SETTINGS[type].flatMap(({ key, kind }): [string, unknown][] => {
      const text = typed[key]?.trim()
      if (text === undefined) return []
      if (text === '') return isNew ? [] : [[key, null]]
      return [[key, kind === 'number' ? Number(text) : kind === 'list' ? itemsOf(text) : text]]
    }),
  )
}

const itemsOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
