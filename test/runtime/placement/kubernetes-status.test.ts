import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusOf } from '../../../src/runtime/placement/kubernetes-status.ts'

const YOUNG = { ageMs: 1_000, refusal: null }
const OLD = { ageMs: 600_000, refusal: null }
const spec = { nodeName: 'node-7', containers: [{ name: 'run', image: 'agents:1' }] }
const failed = (reason = 'BackoffLimitExceeded') => ({
  status: { conditions: [{ type: 'Failed', status: 'True', reason, message: 'Job has reached the specified limit' }] },
})
const pod = (phase: string, more: object = {}) => ({ spec, metadata: {}, status: { phase, ...more } })
const waiting = (reason: string, message = '') =>
  pod('Pending', { containerStatuses: [{ name: 'run', state: { waiting: { reason, message } } }] })
const terminated = (state: object) =>
  pod('Failed', { containerStatuses: [{ name: 'run', state: { terminated: state } }] })
const disrupted = (reason: string) =>
  pod('Failed', { conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] })

for (const [title, job, given, at, wanted] of [
  ['a finished job', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }, undefined, YOUNG, null],
  ['a time limit', failed('DeadlineExceeded'), undefined, YOUNG, /reached its time limit/],
  ['a preempted pod', failed(), disrupted('PreemptionByScheduler'), YOUNG, /was preempted by another one/],
  ['a lost node', failed(), disrupted('DeletionByTaintManager'), YOUNG, /its node node-7 failed/],
  ['a drained node', failed(), disrupted('EvictionByEvictionAPI'), YOUNG, /node-7 is drained/],
  [
    'a full disk',
    failed(),
    pod('Failed', { reason: 'Evicted', message: 'low on ephemeral-storage' }),
    YOUNG,
    /ended by node-7: low on ephemeral-storage/,
  ],
  [
    'too little memory',
    failed(),
    terminated({ reason: 'OOMKilled', exitCode: 137 }),
    YOUNG,
    /more memory than its limit/,
  ],
  [
    'no Node in the image',
    failed(),
    terminated({ reason: 'StartError', exitCode: 128, message: 'exec: "node"' }),
    YOUNG,
    /could not be started: exec: "node"/,
  ],
  [
    'an API that cannot be reached',
    failed(),
    terminated({ reason: 'Error', exitCode: 69 }),
    YOUNG,
    /API could not be reached/,
  ],
  ['a folder that cannot be written', failed(), terminated({ reason: 'Error', exitCode: 73 }), YOUNG, /disk is full/],
  ['an invalid image', {}, waiting('InvalidImageName', 'bad'), YOUNG, /image agents:1 is not available: bad/],
  [
    'an image that is not pulled in time',
    {},
    waiting('ImagePullBackOff', 'denied'),
    OLD,
    /image agents:1 could not be pulled: denied/,
  ],
  ['a missing secret', {}, waiting('CreateContainerConfigError', 'secret "x" not found'), OLD, /secret "x" not found/],
] as const) {
  test(`${title} of a cluster ends the run with a clear sentence`, () => {
    const found = statusOf(job as never, given as never, at)
    assert.equal(found.state, 'ended')
    if (wanted === null) assert.equal('cause' in found && found.cause, null)
    else assert.match(String('cause' in found && found.cause), wanted)
  })
}

for (const [title, given, at, wanted] of [
  ['an image that is being pulled', waiting('ErrImagePull', 'timeout'), YOUNG, /ErrImagePull: timeout/],
  [
    'a full cluster',
    pod('Pending', { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }] }),
    OLD,
    /no node can take it: 0\/3 nodes/,
  ],
  ['an exceeded quota', undefined, { ...OLD, refusal: 'exceeded quota: compute' }, /quota of its namespace is used up/],
  ['a new container', waiting('ContainerCreating'), OLD, /container is being created/],
] as const) {
  test(`${title} shows on the waiting run`, () => {
    const found = statusOf({}, given as never, at)
    assert.equal(found.state, 'queued')
    assert.match(String('because' in found && found.because), wanted)
  })
}

test('a run in a pod names its node', () => {
  assert.deepEqual(statusOf({}, pod('Running') as never, OLD), { state: 'running', node: 'node-7' })
})
