import type { V1Job, V1PodSpec, V1Secret } from '@kubernetes/client-node'
import type { KubernetesSettings } from '../../organization/placement/settings.ts'
import type { Job } from './driver.ts'
import type { RemoteProgram } from './remote-program.ts'

/** The label of all objects of this server's runs. Its value is the id of the run. */
export const RUN_LABEL = 'service-board/run'

export const jobName = (runId: string) => `service-run-${runId}`

/** The folder of the secret in the container, and the volume for runs and clones. It is also the home directory. */
const PROGRAM_FOLDER = '/run/service'
const WORK_FOLDER = '/work'
const PROGRAM = 'shim.mjs'

/** The folder for runs and clones in the container. */
export const workdirOf = ({ workdir = '.service-runs' }: KubernetesSettings) =>
  workdir.startsWith('/') ? workdir : `${WORK_FOLDER}/${workdir}`

/** The time that is added to the time limit of a run, for the grace period and late reports, in seconds. */
const TIME_SLACK_SEC = 600
/** The time after which the cluster deletes a finished job with its pod and its secret, in seconds. */
const KEPT_SEC = 600
/** An ordinary user without permissions: the `node` user of the images of Node. */
const DEFAULT_USER = 1000

/** Returns the manifest of the job of a run. A job runs one pod, which is never restarted: the server retries runs itself. */
export function jobManifest(settings: KubernetesSettings, job: Pick<Job, 'runId' | 'url' | 'timeoutSec'>): V1Job {
  const { runId, url, timeoutSec } = job
  const program = ['run', runId]
  return manifest(settings, { name: jobName(runId), runId, url, program, timeoutSec })
}

/** Returns the manifest of a job that prints the properties of its node. */
export const probeManifest = (settings: KubernetesSettings, { id, url }: { id: string; url: string }): V1Job =>
  manifest(settings, { name: jobName(id), runId: id, url, program: ['probe'], timeoutSec: 60 })

interface Wanted {
  name: string
  runId: string
  url: string
  program: string[]
  timeoutSec: number | null
}

function manifest(settings: KubernetesSettings, { name, runId, url, program, timeoutSec }: Wanted): V1Job {
  const { timeLimitSec } = settings
  const wanted = timeoutSec ? timeoutSec + TIME_SLACK_SEC : timeLimitSec
  const seconds = wanted && Math.min(wanted, timeLimitSec ?? wanted)
  const labels = { 'app.kubernetes.io/managed-by': 'service', [RUN_LABEL]: runId }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: KEPT_SEC,
      ...(seconds && { activeDeadlineSeconds: seconds }),
      template: { metadata: { labels }, spec: podSpec(settings, { name, runId, url, program }) },
    },
  }
}

function podSpec(settings: KubernetesSettings, { name, runId, url, program }: Omit<Wanted, 'timeoutSec'>): V1PodSpec {
  const { image, node = 'node', serviceAccount, pullSecret, volumeClaim, runAsUser = DEFAULT_USER } = settings
  const work = volumeClaim === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: volumeClaim } }
  const env = {
    SERVICE_RUN_ID: runId,
    SERVICE_API_URL: url,
    SERVICE_WORKDIR: workdirOf(settings),
    HOME: WORK_FOLDER,
  }
  return {
    restartPolicy: 'Never',
    // A pod without a stop request ignores SIGTERM, so a longer period would only delay its end.
    terminationGracePeriodSeconds: 1,
    // The programs of runs must not control the cluster.
    automountServiceAccountToken: false,
    // Process 1 of the pod then waits for processes that lost their parent.
    shareProcessNamespace: true,
    ...(serviceAccount && { serviceAccountName: serviceAccount }),
    ...(pullSecret && { imagePullSecrets: [{ name: pullSecret }] }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser,
      runAsGroup: runAsUser,
      fsGroup: runAsUser,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'run',
        image,
        command: [node, `${PROGRAM_FOLDER}/${PROGRAM}`, ...program],
        workingDir: '/',
        env: [
          ...Object.entries(env).map(([key, value]) => ({ name: key, value })),
          { name: 'SERVICE_API_KEY', valueFrom: { secretKeyRef: { name, key: 'token' } } },
        ],
        resources: resourcesOf(settings),
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: [
          { name: 'program', mountPath: PROGRAM_FOLDER, readOnly: true },
          { name: 'work', mountPath: WORK_FOLDER },
        ],
      },
    ],
    volumes: [
      { name: 'program', secret: { secretName: name, items: [{ key: PROGRAM, path: PROGRAM }] } },
      { name: 'work', ...work },
    ],
  }
}

/** Memory has a limit, because a node that runs out of memory ends other runs too. CPU has none. */
function resourcesOf({ cpu = '500m', memory = '1Gi', gpus }: KubernetesSettings) {
  const gpu = gpus && { 'nvidia.com/gpu': String(gpus) }
  return { requests: { cpu, memory, ...gpu }, limits: { memory, ...gpu } }
}

/** Returns the manifest of the secret with the token and the program of a run. The cluster deletes it with the job. */
export function secretManifest(job: V1Job, token: string, { source }: RemoteProgram): V1Secret {
  const { name, uid, labels } = job.metadata!
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: name!,
      labels: labels!,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: name!, uid: uid!, blockOwnerDeletion: false }],
    },
    data: { token: Buffer.from(token).toString('base64'), [PROGRAM]: source.toString('base64') },
  }
}
