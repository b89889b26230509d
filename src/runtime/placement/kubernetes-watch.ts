import {
  type BatchV1Api,
  type CoreV1Api,
  type KubeConfig,
  type KubernetesListObject,
  makeInformer,
  type V1Job,
  type V1Pod,
} from '@kubernetes/client-node'
import { RUN_LABEL } from './kubernetes-manifest.ts'

/** The jobs and pods of the runs of a namespace, as the last events of the cluster describe them. */
export interface KubernetesWatch {
  /** Resolves when the first lists were read. Rejects if a list or a watch failed since then. */
  ready(): Promise<void>
  job(name: string): V1Job | undefined
  podOf(runId: string): V1Pod | undefined
  close(): Promise<void>
}

/** The time after which a failed watch is started again, in milliseconds. */
const RESTART_MS = 3_000

/**
 * Watches the jobs and pods of runs. Each watch continues after the version of
 * the last event. If the cluster no longer has that version (410 Gone), the
 * objects are listed again.
 */
export function watchRuns(
  config: KubeConfig,
  { core, batch, namespace }: { core: CoreV1Api; batch: BatchV1Api; namespace: string },
): KubernetesWatch {
  const labelSelector = RUN_LABEL
  const jobs = startInformer<V1Job>(config, `/apis/batch/v1/namespaces/${namespace}/jobs`, () =>
    batch.listNamespacedJob({ namespace, labelSelector }),
  )
  const pods = startInformer<V1Pod>(config, `/api/v1/namespaces/${namespace}/pods`, () =>
    core.listNamespacedPod({ namespace, labelSelector }),
  )
  return {
    async ready() {
      await Promise.all([jobs.ready(), pods.ready()])
    },
    job: (name) => jobs.informer.get(name, namespace),
    podOf: (runId) => pods.informer.list(namespace).find((pod) => pod.metadata?.labels?.[RUN_LABEL] === runId),
    async close() {
      await Promise.all([jobs.close(), pods.close()])
    },
  }
}

function startInformer<Item extends V1Job | V1Pod>(
  config: KubeConfig,
  path: string,
  list: () => Promise<KubernetesListObject<Item>>,
) {
  let fault: Error | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isListed = Promise.withResolvers<void>()
  isListed.promise.catch(() => {})
  const listAll = async () => {
    const found = await list()
    fault = undefined
    // The informer stores the items right after this.
    setImmediate(isListed.resolve)
    return found
  }
  const informer = makeInformer(config, path, listAll, RUN_LABEL)
  informer.on('error', (error: Error) => {
    fault = error
    isListed.reject(error)
    isListed = Promise.withResolvers()
    isListed.promise.catch(() => {})
    if (!isClosed) timer = setTimeout(start, RESTART_MS)
    timer?.unref()
  })
  function start() {
    // A watch that continues without a new list has all events.
    if (informer.list().length > 0) isListed.resolve()
    fault = undefined
    void informer.start()
  }
  start()
  return {
    informer,
    async ready() {
      if (fault) throw fault
      await isListed.promise
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await informer.stop()
    },
  }
}
