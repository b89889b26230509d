import type { V1ContainerState, V1Job, V1Pod } from '@kubernetes/client-node'
import { explainExit, type JobStatus } from './driver.ts'

/** The time that the cluster has to pull an image, and to find the secret of a new job, in milliseconds. */
export const PULL_PATIENCE_MS = 120_000

/**
 * Returns the status of a run from its job and its pod.
 *
 * @param ageMs the time since the job was created, in milliseconds
 * @param refusal the reason why the cluster created no pod, such as a quota
 */
export function statusOf(
  job: V1Job,
  pod: V1Pod | undefined,
  { ageMs, refusal }: { ageMs: number; refusal: string | null },
): JobStatus {
  const condition = (type: string) => job.status?.conditions?.find((one) => one.type === type && one.status === 'True')
  if (condition('Complete')) return { state: 'ended', cause: null }
  const failed = condition('Failed') ?? condition('FailureTarget')
  if (failed?.reason === 'DeadlineExceeded') {
    return { state: 'ended', cause: 'its job reached its time limit in the cluster (timeLimitSec).' }
  }
  if (pod) {
    const end = endOfPod(pod, ageMs)
    if (end !== undefined) return { state: 'ended', cause: end }
  }
  if (failed)
    return { state: 'ended', cause: `its job failed: ${failed.message ?? failed.reason ?? 'no reason given'}` }
  if (!pod)
    return { state: 'queued', because: refusal === null ? 'the cluster creates its pod' : explainRefusal(refusal) }
  if (pod.status?.phase === 'Running') return { state: 'running', node: pod.spec?.nodeName ?? null }
  return { state: 'queued', because: whyPending(pod) }
}

/** Returns why a pod ended or cannot start, null for a success, and undefined if it lives. */
function endOfPod(pod: V1Pod, ageMs: number): string | null | undefined {
  const { status } = pod
  const node = pod.spec?.nodeName ?? 'its node'
  const state = containerState(pod)
  if (state?.waiting) return cannotStart(pod, ageMs)
  if (status?.phase === 'Succeeded') return null
  const disruption = status?.conditions?.find((one) => one.type === 'DisruptionTarget' && one.status === 'True')
  if (status?.phase !== 'Failed' && !(disruption && pod.metadata?.deletionTimestamp)) return undefined
  switch (disruption?.reason ?? status?.reason) {
    case 'PreemptionByScheduler':
    case 'Preempting':
      return 'its pod was preempted by another one with a higher priority.'
    case 'DeletionByTaintManager':
    case 'DeletionByPodGC':
    case 'NodeLost':
      return `its node ${node} failed.`
    case 'EvictionByEvictionAPI':
      return `its pod was evicted, for example because ${node} is drained.`
    case 'TerminationByKubelet':
    case 'Evicted':
    case 'Shutdown':
    case 'NodeShutdown':
      return `its pod was ended by ${node}: ${status?.message ?? disruption?.message ?? 'no reason given'}`
  }
  const { reason, exitCode = 0, message } = state?.terminated ?? {}
  if (reason === 'OOMKilled') return 'its pod used more memory than its limit (memory).'
  if (reason === 'StartError' || reason === 'ContainerCannotRun') {
    return `the program of its container could not be started: ${message ?? reason}. The image must have Node 22 or newer; the setting node names it.`
  }
  return explainExit(exitCode) ?? `its pod failed with exit code ${exitCode}${message ? `: ${message}` : ''}.`
}

const containerState = (pod: V1Pod): V1ContainerState | undefined => pod.status?.containerStatuses?.[0]?.state

/** Returns why a container cannot start. Undefined if the cluster may still succeed. */
function cannotStart(pod: V1Pod, ageMs: number): string | undefined {
  const { reason = '', message = '' } = containerState(pod)?.waiting ?? {}
  const image = pod.spec?.containers[0]?.image ?? ''
  const why = message === '' ? reason : message
  if (reason === 'InvalidImageName' || reason === 'ErrImageNeverPull')
    return `its image ${image} is not available: ${why}`
  if (ageMs < PULL_PATIENCE_MS) return undefined
  if (IMAGE_FAULTS.has(reason)) return `its image ${image} could not be pulled: ${why}`
  if (START_FAULTS.has(reason)) return `its container could not be started: ${why}`
  return undefined
}

const IMAGE_FAULTS = new Set(['ErrImagePull', 'ImagePullBackOff', 'ImageInspectError', 'RegistryUnavailable'])
const START_FAULTS = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'])

/** Returns why a pod has not started, for people. */
function whyPending(pod: V1Pod): string {
  const waiting = containerState(pod)?.waiting
  if (waiting && (IMAGE_FAULTS.has(waiting.reason ?? '') || START_FAULTS.has(waiting.reason ?? ''))) {
    return `${waiting.reason}: ${waiting.message ?? 'the cluster retries'}`
  }
  const scheduled = pod.status?.conditions?.find((one) => one.type === 'PodScheduled')
  if (scheduled?.status === 'False') return `no node can take it: ${scheduled.message ?? scheduled.reason}`
  return 'its container is being created'
}

/** Explains why the cluster creates no pod for a job. */
const explainRefusal = (message: string) =>
  /exceeded quota/i.test(message)
    ? `the quota of its namespace is used up: ${message}`
    : `the cluster refuses its pod: ${message}`
