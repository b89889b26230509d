import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Driver, JobStatus } from '../../../src/runtime/placement/driver.ts'
import { createKubernetesDriver } from '../../../src/runtime/placement/kubernetes.ts'
import { createTestApp } from '../../helpers.ts'
import { startTestServer } from '../../server.ts'
import { type KubeServer, startKubeServer, status } from './kube-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: the objects of a cluster.
type Json = any

async function arrange(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-kube-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const cluster = await startKubeServer(t, folder)
  const { ctx } = createTestApp(t)
  const settings = {
    image: 'registry.example/agents:1',
    kubeconfig: cluster.kubeconfig,
    publicUrl: 'http://127.0.0.1:1',
  }
  const open = () => {
    const driver = createKubernetesDriver(ctx, settings)
    t.after(() => driver.close())
    return driver
  }
  const job = (runId: string) => ({
    runId,
    token: 'secret-token',
    url: settings.publicUrl,
    workdir: '.',
    timeoutSec: 60,
  })
  return { folder, cluster, open, job }
}

const podOf = (cluster: KubeServer, runId: string, more: Json) => {
  const job = cluster.objects('jobs').find((one) => one.metadata.labels['service-board/run'] === runId)
  return {
    metadata: {
      name: `${job.metadata.name}-x`,
      labels: job.spec.template.metadata.labels,
      ownerReferences: [{ uid: job.metadata.uid }],
    },
    spec: { ...job.spec.template.spec, nodeName: 'node-1' },
    ...more,
  }
}

async function untilStatus(driver: Driver, runId: string, is: (status: JobStatus) => boolean): Promise<JobStatus> {
  for (let tries = 0; tries < 200; tries++) {
    const found = (await driver.status([{ runId, jobId: 'x' }])).get(runId)!
    if (is(found)) return found
    await delay(50)
  }
  assert.fail(JSON.stringify(await driver.status([{ runId, jobId: 'x' }])))
}

test('a run is a job with a secret that it owns, limits, an ordinary user, and no restart', async (t) => {
  const { cluster, open, job } = await arrange(t)
  const runId = randomUUID()
  const uid = await open().submit(job(runId))
  const [made] = cluster.objects('jobs')
  const [secret] = cluster.objects('secrets')
  assert.equal(made.metadata.uid, uid)
  assert.deepEqual(
    [made.spec.backoffLimit, made.spec.activeDeadlineSeconds, made.spec.ttlSecondsAfterFinished],
    [0, 660, 600],
  )
  const { spec } = made.spec.template
  assert.deepEqual([spec.restartPolicy, spec.automountServiceAccountToken], ['Never', false])
  assert.deepEqual([spec.securityContext.runAsNonRoot, spec.securityContext.runAsUser], [true, 1000])
  const [container] = spec.containers
  assert.equal(container.securityContext.allowPrivilegeEscalation, false)
  assert.deepEqual(container.resources, { requests: { cpu: '500m', memory: '1Gi' }, limits: { memory: '1Gi' } })
  assert.doesNotMatch(JSON.stringify(made), /secret-token/)
  assert.equal(secret.metadata.ownerReferences[0].uid, uid)
  assert.equal(atob(secret.data.token), 'secret-token')
})

test('a job that exists is adopted, and a job whose pod cannot have started is removed', async (t) => {
  const { cluster, open, job } = await arrange(t)
  const runId = randomUUID()
  const uid = await open().submit(job(runId))
  const next = open()
  assert.equal(await next.find(runId), uid, 'after a restart')
  assert.equal(await next.submit(job(runId)), uid, '409 AlreadyExists')
  assert.equal(cluster.objects('jobs').length, 1)
  cluster.remove('secrets', cluster.objects('secrets')[0].metadata.name)
  assert.equal(await next.find(runId), undefined, 'the server was killed before it created the secret')
  assert.equal(cluster.objects('jobs').length, 0)
  assert.equal(await next.find(randomUUID()), undefined)
})

test('status follows the events of the cluster, also after 410 Gone, and a stop removes the job', async (t) => {
  const { cluster, open, job } = await arrange(t)
  const runId = randomUUID()
  const driver = open()
  await driver.submit(job(runId))
  const queued = await untilStatus(driver, runId, ({ state }) => state === 'queued')
  assert.deepEqual(queued, { state: 'queued', because: 'the cluster creates its pod' })
  cluster.put('pods', podOf(cluster, runId, { status: { phase: 'Running' } }))
  assert.deepEqual(await untilStatus(driver, runId, ({ state }) => state === 'running'), {
    state: 'running',
    node: 'node-1',
  })
  const lists = () => cluster.requests.filter((one) => one === 'GET pods').length
  const before = lists()
  for (let looks = 0; looks < 10; looks++) await driver.status([{ runId, jobId: 'x' }])
  assert.equal(lists(), before, 'a watch needs no further list')
  cluster.compact()
  cluster.put('pods', podOf(cluster, runId, { spec: { nodeName: 'node-2' } }))
  const moved = ({ node }: Json) => node === 'node-2'
  await untilStatus(driver, runId, moved)
  assert.ok(lists() > before, 'listed again')
  await driver.stop({ runId, jobId: 'x' }, 0)
  assert.deepEqual(
    [cluster.objects('jobs').length, cluster.objects('pods').length, cluster.objects('secrets').length],
    [0, 0, 0],
  )
  const ended = await untilStatus(driver, runId, ({ state }) => state === 'ended')
  assert.deepEqual(ended, { state: 'ended', cause: 'its job was deleted in the cluster.' })
})

test('errors of the cluster are clear sentences, and an exceeded quota shows on a waiting run', async (t) => {
  const { cluster, open, job } = await arrange(t)
  const driver = open()
  for (const [code, message, sentence] of [
    [403, 'jobs.batch is forbidden: exceeded quota: runs', /quota of its namespace is used up: .*exceeded quota: runs/],
    [403, 'jobs.batch is forbidden: User "x" cannot create', /refused the request: .*cannot create/],
    [422, 'Job.batch is invalid', /refused the job: Job.batch is invalid/],
    [503, 'etcd is down', /cannot be reached: etcd is down/],
  ] as const) {
    cluster.onCreate = () => status(code, 'x', message)
    await assert.rejects(driver.submit(job(randomUUID())), sentence)
  }
  cluster.onCreate = () => undefined
  const runId = randomUUID()
  const uid = await driver.submit(job(runId))
  const message = 'pods "x" is forbidden: exceeded quota: compute'
  cluster.put('events', { metadata: { name: 'e' }, involvedObject: { uid }, message })
  const status1 = await untilStatus(driver, runId, ({ state }) => state === 'queued')
  assert.match((status1 as Json).because, /the quota of its namespace is used up: .*exceeded quota: compute/)
})

test('a run executes the manifest of its job, and reports to the server', async (t) => {
  const { cluster, folder } = await arrange(t)
  executePods(t, cluster, folder)
  const { server } = await startTestServer(t, { environment: { PATH: process.env.PATH ?? '' } })
  const request = async (method: string, where: string, body?: object): Promise<Json> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${server.url}${where}`, {
      method,
      ...(body && { headers, body: JSON.stringify(body) }),
    })
    const json = await response.json()
    assert.ok(response.ok, JSON.stringify(json))
    return json
  }
  const { kubeconfig } = cluster
  const settings = { image: 'agents:1', kubeconfig, publicUrl: server.url, node: process.execPath }
  await request('POST', '/api/placements', { name: 'k', type: 'kubernetes', settings })
  const tested = await request('POST', '/api/placements/k/test')
  assert.equal(tested.ok, true, JSON.stringify(tested))
  const { id } = await request('POST', '/api/companies', { name: 'Acme' })
  const launcher = path.join(folder, 'agent.sh')
  const program = path.resolve(import.meta.dirname, '../../agents/says-usage.js')
  writeFileSync(launcher, `#!/bin/sh\nexec '${process.execPath}' '${program}'\n`, { mode: 0o755 })
  const agent = await request('POST', `/api/companies/${id}/agents`, {
    name: 'A',
    adapterType: 'runtimeA_local',
    adapterConfig: { command: launcher },
    runtimeConfig: { placement: 'k' },
  })
  await request('POST', `/api/agents/${agent.id}/heartbeat/invoke`, {})
  let run: Json
  for (let tries = 0; tries < 300 && !run?.finishedAt; tries++) {
    await delay(100)
    run = (await request('GET', `/api/companies/${id}/runs`))[0]
  }
  assert.deepEqual([run.status, run.costCents, run.error], ['succeeded', 1, null], JSON.stringify(run))
})

/** Executes the container of each new job on this machine, as a node does after it has the secret. */
function executePods(t: TestContext, cluster: KubeServer, folder: string): void {
  const children = new Set<ReturnType<typeof spawn>>()
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  cluster.onCreate = (kind, secret) => {
    if (kind !== 'secrets') return
    const job = cluster.objects('jobs').find((one) => one.metadata.uid === secret.metadata.ownerReferences[0].uid)
    const runId = job.metadata.labels['service-board/run']
    const [container] = job.spec.template.spec.containers
    const home = path.join(folder, runId)
    mkdirSync(home)
    writeFileSync(path.join(home, 'shim.mjs'), Buffer.from(secret.data['shim.mjs'], 'base64'))
    const inPlace = (text: string) => text.replace('/run/service', home).replace(/^\/work(?=$|\/\.)/, home)
    const env = Object.fromEntries(
      container.env.map((one: Json) => [
        one.name,
        one.value === undefined ? atob(secret.data[one.valueFrom.secretKeyRef.key]) : inPlace(one.value),
      ]),
    )
    const [program, ...args] = container.command.map(inPlace)
    const child = spawn(program, args, {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(child)
    let log = ''
    child.stdout!.on('data', (chunk) => {
      log += chunk
    })
    cluster.put('pods', podOf(cluster, runId, { status: { phase: 'Running' } }))
    child.on('close', (exitCode) => {
      children.delete(child)
      const phase = exitCode === 0 ? 'Succeeded' : 'Failed'
      const containerStatuses = [{ name: 'run', state: { terminated: { exitCode } } }]
      if (!cluster.objects('jobs').some((one) => one.metadata.uid === job.metadata.uid)) return
      cluster.put('pods', podOf(cluster, runId, { log, status: { phase, containerStatuses } }))
      cluster.put('jobs', {
        ...job,
        status: { conditions: [{ type: exitCode === 0 ? 'Complete' : 'Failed', status: 'True' }] },
      })
    })
  }
}
