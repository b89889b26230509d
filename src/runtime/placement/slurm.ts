import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { SlurmSettings } from '../../organization/placement/settings.ts'
import type { Context } from '../../platform/context.ts'
import type { ProbeResult } from '../remote/probe.ts'
import { checksOf } from './checks.ts'
import {
  type Check,
  DEFAULT_WORKDIR,
  type Driver,
  explainExit,
  type Job,
  type JobStatus,
  PlacementFault,
} from './driver.ts'
import { exec, lastLine, quote, type Result } from './exec.ts'
import { readRemoteProgram } from './remote-program.ts'

/** The prefix of job names. The id of the run follows. */
const PREFIX = 'service-'

/** The time that is added to the time limit of a run, for the grace period and late reports, in seconds. */
const TIME_SLACK_SEC = 600

/** How often, and in which interval in milliseconds, the job of a run is searched after a crash of the server. */
const FIND_LOOKS = 3
const FIND_PAUSE_MS = 2_000

/** Creates a driver that submits runs with Slurm's commands. The machine of the server must be a submit host. */
export function createSlurmDriver(ctx: Context, settings: SlurmSettings): Driver {
  const { publicUrl, partition, workdir = DEFAULT_WORKDIR } = settings
  const url = publicUrl!
  const { SLURM_CONF } = process.env
  const environment = { ...ctx.config.environment, ...(SLURM_CONF && { SLURM_CONF }) }

  /** @param variables environment variables for secrets, because other users can read arguments */
  async function slurm(
    argv: readonly [string, ...string[]],
    { input = '', variables = {} }: { input?: string; variables?: Record<string, string> } = {},
  ): Promise<Result> {
    const result = await exec(argv, { env: { ...environment, ...variables }, input })
    if (result.code === 0) return result
    throw explain(argv[0], result)
  }

  return {
    pollMs: 2_000,
    apiUrl: async () => url,
    async submit(job) {
      const input = await jobScript(settings, `run ${job.runId}`)
      const variables = {
        SERVICE_RUN_ID: job.runId,
        SERVICE_API_URL: job.url,
        SERVICE_API_KEY: job.token,
        SERVICE_WORKDIR: workdir,
      }
      try {
        const options = sbatchOptions(settings, job)
        const { stdout } = await slurm(['sbatch', '--parsable', ...options], { input, variables })
        // With several clusters, the output is `id;cluster`.
        const [id] = stdout.trim().split(';')
        if (!id || !/^\d+$/.test(id)) throw new PlacementFault(`sbatch printed no job id: ${lastLine(stdout)}`)
        return id
      } catch (error) {
        // The controller may have accepted the job, for example if sbatch exceeded the timeout.
        void slurm(['scancel', '--quiet', `--name=${PREFIX}${job.runId}`]).catch(() => {})
        throw error
      }
    },
    async find(runId) {
      // The sbatch of a killed server outlives it for a moment, so the job may not be in the queue yet.
      for (let looks = 0; looks < FIND_LOOKS; looks++) {
        if (looks > 0) await delay(FIND_PAUSE_MS, undefined, { ref: false })
        const name = `--name=${PREFIX}${runId}`
        const { stdout } = await slurm(['squeue', '--states=all', '--noheader', name, '--format=%i'])
        const id = stdout.trim().split('\n')[0]
        if (id) return id
      }
      return undefined
    },
    async status(jobs) {
      const rows = parseQueue((await slurm(QUEUE)).stdout)
      const byId = new Map(rows.map((row) => [row.id, row]))
      const statuses = new Map<string, JobStatus>()
      for (const { runId, jobId } of jobs) {
        const row = byId.get(jobId)
        if (row) statuses.set(runId, await statusOf(row, rows))
        else if (await isForgotten(jobId)) statuses.set(runId, { state: 'ended', cause: null })
        else statuses.set(runId, { state: 'queued', because: null })
      }
      return statuses
    },
    async stop({ jobId }) {
      // The grace period is over, so all processes of the job are killed.
      await slurm(['scancel', '--full', '--signal=KILL', jobId]).catch(() => {})
      await cancel(jobId)
    },
    cleanUp: ({ jobId }) => cancel(jobId),
    test,
    close: async () => {},
  }

  async function cancel(jobId: string): Promise<void> {
    await slurm(['scancel', '--quiet', jobId])
  }

  /** Whether the controller no longer knows a job that is missing in the queue. */
  async function isForgotten(jobId: string): Promise<boolean> {
    const argv = ['scontrol', '--oneliner', 'show', 'job', jobId] as const
    const { code, stderr } = await exec(argv, { env: environment })
    return code !== 0 && /invalid job id/i.test(stderr)
  }

  async function statusOf(row: QueueRow, rows: readonly QueueRow[]): Promise<JobStatus> {
    if (isQueued(row)) return { state: 'queued', because: whyQueued(row, rows) }
    if (LIVE.has(row.state)) return { state: 'running', node: row.nodes || null }
    return { state: 'ended', cause: END_CAUSES[row.state]?.(row) ?? (await exitOf(row)) }
  }

  /** Returns the meaning of the exit code of a job whose shim did not report. */
  async function exitOf({ id, state }: QueueRow): Promise<string | null> {
    if (state === 'COMPLETED') return null
    const { stdout } = await slurm(['scontrol', '--oneliner', 'show', 'job', id])
    const code = Number(/ExitCode=(\d+):/.exec(stdout)?.[1] ?? 0)
    return explainExit(code) ?? `its job ended with state ${state}${code === 0 ? '' : ` and exit code ${code}`}.`
  }

  async function test(): Promise<Check[]> {
    const { stdout: version } = await slurm(['sbatch', '--version'])
    const where = partition === undefined ? [] : [`--partition=${partition}`]
    const { stdout } = await slurm(['sinfo', '--noheader', '--format=%P %a %D %T', ...where])
    const lines = stdout.trim().split('\n').filter(Boolean)
    const isUp = lines.some((line) => / up \d+ (idle|mix|alloc)/.test(line))
    const checks: Check[] = [
      { name: 'connection', ok: true, message: `${version.trim()} responds.` },
      {
        name: 'partition',
        ok: isUp,
        message:
          lines.length === 0
            ? `The partition ${partition} does not exist.`
            : isUp
              ? `Nodes of the partition: ${lines.join('; ')}.`
              : `No node of the partition is up: ${lines.join('; ')}.`,
      },
    ]
    if (!isUp) return checks
    const input = await jobScript(settings, 'probe', JSON.stringify({ workdir, url }))
    const options = sbatchOptions(settings, null)
    const job = await slurm(['sbatch', '--parsable', '--wait', ...options, `--output=${PROBE_OUTPUT}`], {
      input,
    }).catch((error: PlacementFault) => error)
    const found = job instanceof PlacementFault ? undefined : await readProbe(job.stdout.trim().split(';')[0]!)
    return [
      ...checks,
      ...(found
        ? checksOf(ctx, found, url)
        : [
            {
              name: 'job',
              ok: false,
              message: `A job did not run: ${job instanceof PlacementFault ? job.message : 'its output was not found. Is the folder /tmp of the node shared?'}`,
            },
          ]),
    ]
  }

  async function readProbe(jobId: string): Promise<ProbeResult | undefined> {
    const { stdout } = await slurm(['cat', PROBE_OUTPUT.replace('%j', jobId)]).catch(() => ({ stdout: '' }))
    try {
      return JSON.parse(stdout)
    } catch {
      return undefined
    }
  }
}

const PROBE_OUTPUT = '/tmp/service-probe-%j'

/** Prints one line for each job of the cluster. The driver needs all jobs to compute the position in the queue. */
const QUEUE = ['squeue', '--states=all', '--noheader', '--format=%i|%T|%r|%P|%Q|%N'] as const

interface QueueRow {
  id: string
  state: string
  reason: string
  partition: string
  priority: number
  nodes: string
}

export const parseQueue = (text: string): QueueRow[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [id = '', state = '', reason = '', partition = '', priority = '', nodes = ''] = line.trim().split('|')
      return { id, state, reason, partition, priority: Number(priority), nodes }
    })

const QUEUED = new Set(['PENDING', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT', 'RESV_DEL_HOLD'])
const LIVE = new Set([
  'RUNNING',
  'COMPLETING',
  'CONFIGURING',
  'SIGNALING',
  'STAGE_OUT',
  'STOPPED',
  'SUSPENDED',
  'RESIZING',
])
const isQueued = ({ state }: QueueRow) => QUEUED.has(state)

/** Returns the reason why a job is queued, for people. */
export function whyQueued(row: QueueRow, rows: readonly QueueRow[]): string {
  const isAhead = (other: QueueRow) =>
    other.priority > row.priority || (other.priority === row.priority && Number(other.id) < Number(row.id))
  const ahead = rows.filter((other) => isQueued(other) && other.partition === row.partition && isAhead(other)).length
  const place = `${ahead} ahead of it in the queue of partition ${row.partition}`
  const reason = REASONS[row.reason] ?? row.reason
  return reason === '' || row.reason === 'Priority' || row.reason === 'None' ? place : `${place}: ${reason}`
}

const REASONS: Record<string, string> = {
  Resources: 'no node is free',
  ReqNodeNotAvail: 'the nodes are down or reserved',
  PartitionDown: 'the partition is down',
  PartitionNodeLimit: 'it requests more resources than the partition has',
  PartitionTimeLimit: 'its time limit exceeds that of the partition; set timeLimitSec of the placement',
  QOSMaxJobsPerUserLimit: 'the quota of jobs is reached',
  AssocGrpCpuLimit: 'the quota of CPUs of the account is used up',
  AssocMaxJobsLimit: 'the quota of jobs of the account is reached',
  BeginTime: 'it starts later',
}

const END_CAUSES: Record<string, (row: QueueRow) => string> = {
  NODE_FAIL: ({ nodes }) => `its node ${nodes || ''} failed.`.replace('  ', ' '),
  BOOT_FAIL: () => 'its node did not boot.',
  PREEMPTED: () => 'its job was preempted by another one.',
  TIMEOUT: () => 'its job reached its time limit in the cluster (timeLimitSec, or that of the partition).',
  OUT_OF_MEMORY: () => 'its job used more memory than it requested (memoryMb).',
  DEADLINE: () => 'its job reached its deadline.',
  CANCELLED: () => 'its job was cancelled in the cluster.',
}

function sbatchOptions(settings: SlurmSettings, job: Job | null): string[] {
  const { partition, account, qos, cpus = 1, memoryMb, gpus, timeLimitSec, options = [] } = settings
  const wanted = job?.timeoutSec ? job.timeoutSec + TIME_SLACK_SEC : timeLimitSec
  // A job with a time limit above that of its partition would stay in the queue forever.
  const seconds = wanted && Math.min(wanted, timeLimitSec ?? wanted)
  const given = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${name}=${value}`]
  return [
    `--job-name=${job ? `${PREFIX}${job.runId}` : `${PREFIX}probe`}`,
    ...(job ? [`--comment=${job.runId}`, '--output=/dev/null', '--error=/dev/null'] : []),
    // The server retries failed jobs itself, with a new token.
    '--no-requeue',
    '--ntasks=1',
    '--chdir=/',
    '--export=ALL',
    `--cpus-per-task=${cpus}`,
    ...given('partition', partition),
    ...given('account', account),
    ...given('qos', qos),
    ...given('mem', memoryMb && `${memoryMb}M`),
    ...given('gpus', gpus),
    ...given('time', seconds && Math.ceil(seconds / 60)),
    ...options,
  ]
}

/** Returns a job script that contains the remote program. The nodes need only Node. */
async function jobScript({ setup, node = 'node' }: SlurmSettings, verb: string, input?: string): Promise<string> {
  const { source } = await readRemoteProgram()
  const program = gzipSync(source)
    .toString('base64')
    .replaceAll(/(.{76})/g, '$1\n')
  return `#!/bin/sh
${setup ?? ''}
umask 077
folder=$(mktemp -d "\${TMPDIR:-/tmp}/service.XXXXXXXX") || exit 73
base64 -d <<'END' | gzip -dc > "$folder/shim.mjs" || exit 73
${program}
END
[ -s "$folder/shim.mjs" ] || exit 73
${quote(node)} -e 'process.exit(parseInt(process.versions.node) < 22 ? 78 : 0)' || { code=$?; rm -rf "$folder"; exit $code; }
export SERVICE_REMOVE_SHIM=1
${input === undefined ? '' : `printf %s ${quote(input)} | `}exec ${quote(node)} "$folder/shim.mjs" ${verb}
`
}

function explain(program: string, { code, stderr }: Result): PlacementFault {
  const why = lastLine(stderr)
  const isUnreachable = /unable to contact slurm controller|connection refused|timed out|socket/i.test(stderr)
  const isQuota = /limit|QOS|quota/i.test(stderr)
  return new PlacementFault(
    isUnreachable
      ? `the controller of the cluster cannot be reached: ${why}`
      : isQuota
        ? `the cluster rejected the job because of its limits or quotas: ${why}`
        : `${program} failed (exit code ${code}): ${why}`,
    isUnreachable,
  )
}
