import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ApiException,
  AuthorizationV1Api,
  BatchV1Api,
  CoreV1Api,
  KubeConfig,
  type V1Job,
  VersionApi,
} from '@kubernetes/client-node'
import type { KubernetesSettings } from '../../organization/placement/settings.ts'
import type { Context } from '../../platform/context.ts'
import type { ProbeResult } from '../remote/probe.ts'
import { checksOf } from './checks.ts'
import { type Check, type Driver, type JobStatus, PlacementFault } from './driver.ts'
import { jobManifest, jobName, probeManifest, secretManifest } from './kubernetes-manifest.ts'
import { statusOf } from './kubernetes-status.ts'
import { type KubernetesWatch, watchRuns } from './kubernetes-watch.ts'
import { readRemoteProgram } from './remote-program.ts'

/** The time limit of a request to the cluster, in milliseconds. */
const REQUEST_MS = 20_000
/** The time limit of the job of `service placement test`, in milliseconds. */
const PROBE_MS = 180_000

/** Creates a driver that submits each run as a job of a Kubernetes cluster. */
export function createKubernetesDriver(ctx: Context, settings: KubernetesSettings): Driver {
  const config = loadConfig(settings)
  const namespace = settings.namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
  const core = config.makeApiClient(CoreV1Api)
  const batch = config.makeApiClient(BatchV1Api)
  const url = settings.publicUrl!
  let watch: KubernetesWatch | undefined

  /** Creates a job and its secret. After a crash, it adopts the job that exists. */
  async function create(manifest: V1Job, token: string): Promise<V1Job> {
    const name = manifest.metadata!.name!
    const job = await request(
      ignoring(409, batch.createNamespacedJob({ namespace, body: manifest })).then(
        (created) => created ?? batch.readNamespacedJob({ namespace, name }),
      ),
    )
    try {
      const body = secretManifest(job, token, await readRemoteProgram())
      await request(ignoring(409, core.createNamespacedSecret({ namespace, body })))
    } catch (error) {
      // Without its secret, the pod would wait until its time limit.
      await remove(name).catch(() => {})
      throw error
    }
    return job
  }

  const readJob = (name: string) => request(ignoring(404, batch.readNamespacedJob({ namespace, name })))

  /** Deletes a job with its pod and its secret. */
  async function remove(name: string): Promise<void> {
    await request(ignoring(404, batch.deleteNamespacedJob({ namespace, name, propagationPolicy: 'Background' })))
  }

  async function statusOfRun(runId: string): Promise<JobStatus> {
    const name = jobName(runId)
    // The events of a new job may not have arrived yet.
    const job = watch?.job(name) ?? (await readJob(name))
    if (!job) return { state: 'ended', cause: 'its job was deleted in the cluster.' }
    const pod = watch?.podOf(runId)
    const ageMs = Date.now() - new Date(job.metadata?.creationTimestamp ?? Date.now()).getTime()
    return statusOf(job, pod, { ageMs, refusal: pod ? null : await findRefusal(job) })
  }

  /** Returns the latest reason why the cluster did not create the pod of a job. */
  async function findRefusal(job: V1Job): Promise<string | null> {
    const fieldSelector = `involvedObject.uid=${job.metadata?.uid},reason=FailedCreate`
    const { items } = await request(core.listNamespacedEvent({ namespace, fieldSelector }))
    return items.at(-1)?.message ?? null
  }

  return {
    pollMs: 1_000,
    apiUrl: async () => url,
    async submit(job) {
      const { metadata } = await create(jobManifest(settings, job), job.token)
      return metadata!.uid!
    },
    async find(runId) {
      const name = jobName(runId)
      const job = await readJob(name)
      if (!job) return undefined
      if (await request(ignoring(404, core.readNamespacedSecret({ namespace, name })))) return job.metadata!.uid
      // The server was killed before it created the secret, so the pod did not start.
      await remove(name)
      return undefined
    },
    async status(jobs) {
      watch ??= watchRuns(config, { core, batch, namespace })
      await request(watch.ready())
      return new Map(await Promise.all(jobs.map(async ({ runId }) => [runId, await statusOfRun(runId)] as const)))
    },
    stop: ({ runId }) => remove(jobName(runId)),
    cleanUp: ({ runId }) => remove(jobName(runId)),
    async test() {
      const { gitVersion } = await request(config.makeApiClient(VersionApi).getCode())
      const checks: Check[] = [
        { name: 'connection', ok: true, message: `The cluster responds (Kubernetes ${gitVersion}).` },
        await checkPermissions(config.makeApiClient(AuthorizationV1Api), namespace),
      ]
      return checks.every(({ ok }) => ok) ? [...checks, ...(await probe())] : checks
    },
    async close() {
      await watch?.close()
    },
  }

  /** Runs a job that prints the properties of its node. */
  async function probe(): Promise<Check[]> {
    const id = randomUUID()
    const failure = (message: string) => [{ name: 'job', ok: false, message: `A job did not run: ${message}` }]
    await create(probeManifest(settings, { id, url }), 'none')
    try {
      const deadline = performance.now() + PROBE_MS
      let because: string | null = null
      while (performance.now() < deadline) {
        const { items } = await request(core.listNamespacedPod({ namespace, labelSelector: `job-name=${jobName(id)}` }))
        const [pod] = items
        const job = await readJob(jobName(id))
        if (!job) return failure('it was deleted.')
        const status = statusOf(job, pod, { ageMs: PROBE_MS, refusal: pod ? null : await findRefusal(job) })
        if (status.state === 'ended' && status.cause !== null) return failure(status.cause)
        if (status.state === 'ended') {
          const log = await request(core.readNamespacedPodLog({ namespace, name: pod!.metadata!.name! }))
          return checksOf(ctx, JSON.parse(log.trim().split('\n').at(-1)!) as ProbeResult, url)
        }
        if (status.state === 'queued') because = status.because
        await delay(1_000, undefined, { ref: false })
      }
      return failure(`it did not start within ${PROBE_MS / 60_000} minutes: ${because}`)
    } finally {
      await remove(jobName(id)).catch(() => {})
    }
  }
}

/** Loads the configuration of `kubectl`: the given file, KUBECONFIG, `~/.kube/config`, or the account of the server's pod. */
function loadConfig({ kubeconfig, context }: KubernetesSettings): KubeConfig {
  const config = new KubeConfig()
  try {
    if (kubeconfig === undefined) config.loadFromDefault()
    else config.loadFromFile(kubeconfig)
  } catch (error) {
    throw new PlacementFault(`The kubectl configuration cannot be read: ${(error as Error).message}`)
  }
  if (context !== undefined) {
    if (!config.getContextObject(context)) {
      throw new PlacementFault(
        `The kubectl configuration has no context ${context}. List them: kubectl config get-contexts`,
      )
    }
    config.setCurrentContext(context)
  }
  return config
}

/** The permissions that the driver needs in the namespace. */
const PERMISSIONS = [
  ['batch', 'jobs', ['create', 'get', 'list', 'watch', 'delete']],
  ['', 'secrets', ['create', 'get']],
  ['', 'pods', ['list', 'watch']],
  ['', 'pods/log', ['get']],
  ['', 'events', ['list']],
] as const

async function checkPermissions(api: AuthorizationV1Api, namespace: string): Promise<Check> {
  const missing: string[] = []
  for (const [group, resource, verbs] of PERMISSIONS) {
    const [name = '', subresource] = resource.split('/')
    for (const verb of verbs) {
      const attributes = { namespace, group, resource: name, verb, ...(subresource && { subresource }) }
      const body = { spec: { resourceAttributes: attributes } }
      const { status } = await request(api.createSelfSubjectAccessReview({ body }))
      if (!status?.allowed) missing.push(`${verb} ${resource}`)
    }
  }
  return {
    name: 'permissions',
    ok: missing.length === 0,
    message:
      missing.length === 0
        ? `All permissions in the namespace ${namespace} are granted.`
        : `Permissions are missing in the namespace ${namespace}: ${missing.join(', ')}.`,
  }
}

/** Returns undefined for a response with a status, such as 404. */
async function ignoring<Value>(status: number, response: Promise<Value>): Promise<Value | undefined> {
  try {
    return await response
  } catch (error) {
    if (error instanceof ApiException && error.code === status) return undefined
    throw error
  }
}

/** Waits for a response of the cluster. @throws PlacementFault with the sentence of the cluster */
async function request<Value>(response: Promise<Value>): Promise<Value> {
  const late = delay(REQUEST_MS, undefined, { ref: false }).then(() => {
    throw new PlacementFault(`the cluster did not respond within ${REQUEST_MS / 1_000} seconds.`, true)
  })
  late.catch(() => {})
  try {
    return await Promise.race([response, late])
  } catch (error) {
    throw error instanceof PlacementFault ? error : explain(error)
  }
}

function explain(error: unknown): PlacementFault {
  const { code, body, statusCode, cause, message } = error as Record<string, unknown> & { cause?: Error }
  const status = typeof code === 'number' ? code : statusCode
  const why = messageOf(body) ?? cause?.message ?? String(message)
  if (status === 401) return new PlacementFault(`the cluster refused the credentials: ${why}`)
  if (status === 403 && /exceeded quota/i.test(why)) {
    return new PlacementFault(`the quota of its namespace is used up: ${why}`)
  }
  if (status === 403) return new PlacementFault(`the cluster refused the request: ${why}`)
  if (typeof status === 'number' && status < 500 && status !== 429)
    return new PlacementFault(`the cluster refused the job: ${why}`)
  return new PlacementFault(`the cluster cannot be reached: ${why}`, true)
}

/** Returns the sentence in the `Status` of an error response. */
function messageOf(body: unknown): string | undefined {
  if (typeof body !== 'string') return (body as { message?: string } | undefined)?.message
  try {
    return JSON.parse(body).message
  } catch {
    return body.slice(0, 200) || undefined
  }
}
