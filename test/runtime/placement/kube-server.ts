import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { TestContext } from 'node:test'

// biome-ignore lint/suspicious/noExplicitAny: the objects of a cluster.
type Json = any

/** A stand-in for the API of a Kubernetes cluster: it stores objects, and responds as the API's documentation says. */
export interface KubeServer {
  /** The kubectl configuration of a client. */
  kubeconfig: string
  objects(kind: Kind): Json[]
  /** Adds or changes an object, as a controller or a node does. */
  put(kind: Kind, object: Json): void
  /** Removes an object with the objects that it owns. */
  remove(kind: Kind, name: string): void
  /** Forgets old events and closes the watches: a client that continues after one gets 410 Gone. */
  compact(): void
  /** The requests, such as `POST jobs`. */
  requests: string[]
  /** Called for each new object. It may return the Status of a refusal. */
  onCreate: (kind: Kind, object: Json) => Json
}

type Kind = 'jobs' | 'secrets' | 'pods' | 'events'

const NAMESPACE = 'agents'
const PATHS = /^\/(?:api\/v1|apis\/batch\/v1)\/namespaces\/agents\/(jobs|secrets|pods|events)(?:\/([^/]+))?(\/log)?$/

export async function startKubeServer(t: TestContext, folder: string): Promise<KubeServer> {
  const stored = new Map<Kind, Map<string, Json>>()
  const events: { kind: Kind; type: string; object: Json; version: number }[] = []
  const watchers = new Set<{ kind: Kind; response: ServerResponse }>()
  let version = 100
  let oldest = 0

  const all = (kind: Kind) => stored.get(kind) ?? stored.set(kind, new Map()).get(kind)!

  function emit(kind: Kind, type: string, object: Json) {
    events.push({ kind, type, object, version })
    for (const watcher of watchers) {
      if (watcher.kind === kind) watcher.response.write(`${JSON.stringify({ type, object })}\n`)
    }
  }

  function put(kind: Kind, given: Json) {
    const { name } = given.metadata
    const known = all(kind).get(name)
    version++
    const object = {
      ...known,
      ...given,
      metadata: {
        namespace: NAMESPACE,
        uid: randomUUID(),
        creationTimestamp: new Date().toISOString(),
        ...known?.metadata,
        ...given.metadata,
        resourceVersion: String(version),
      },
    }
    all(kind).set(name, object)
    emit(kind, known ? 'MODIFIED' : 'ADDED', object)
    return object
  }

  function remove(kind: Kind, name: string) {
    const object = all(kind).get(name)
    if (!object) return
    all(kind).delete(name)
    version++
    emit(kind, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    // The garbage collector of the cluster.
    for (const owned of ['secrets', 'pods'] as const) {
      for (const one of [...all(owned).values()]) {
        if (one.metadata.ownerReferences?.some((owner: Json) => owner.uid === object.metadata.uid)) {
          remove(owned, one.metadata.name)
        }
      }
    }
  }

  function watch(kind: Kind, since: number, response: ServerResponse) {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (since < oldest) {
      const gone = status(410, 'Expired', `too old resource version: ${since} (${oldest})`)
      response.end(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`)
      return
    }
    for (const event of events) {
      if (event.kind === kind && event.version > since) {
        response.write(`${JSON.stringify({ type: event.type, object: event.object })}\n`)
      }
    }
    response.flushHeaders()
    const watcher = { kind, response }
    watchers.add(watcher)
    response.on('close', () => watchers.delete(watcher))
  }

  const server: KubeServer = {
    kubeconfig: path.join(folder, 'kubeconfig'),
    objects: (kind) => [...all(kind).values()],
    put,
    remove,
    compact() {
      version++
      oldest = version
      for (const { response } of watchers) response.end()
      watchers.clear()
    },
    requests: [],
    onCreate: () => undefined,
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://cluster')
    const send = (code: number, body: Json) => {
      response.writeHead(code, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    if (request.headers.authorization !== 'Bearer operator')
      return send(401, status(401, 'Unauthorized', 'Unauthorized'))
    const body = await bodyOf(request)
    if (pathname.startsWith('/version')) return send(200, { gitVersion: 'v1.33.0' })
    if (pathname.endsWith('/selfsubjectaccessreviews')) return send(201, { ...body, status: { allowed: true } })
    const [, kind, name, log] = PATHS.exec(pathname) as unknown as [string, Kind, string?, string?]
    if (!kind) return send(404, status(404, 'NotFound', `no path ${pathname}`))
    server.requests.push(`${request.method} ${kind}${searchParams.has('watch') ? ' watch' : ''}`)
    if (log) return send(200, String(all(kind).get(name!)?.log ?? ''))
    if (searchParams.has('watch')) return watch(kind, Number(searchParams.get('resourceVersion')), response)
    if (request.method === 'POST') {
      const wanted = body.metadata.name
      if (all(kind).has(wanted)) return send(409, status(409, 'AlreadyExists', `${kind} "${wanted}" already exists`))
      const refusal = server.onCreate(kind, body)
      if (refusal) return send(refusal.code, refusal)
      return send(201, put(kind, body))
    }
    if (!name) {
      const selector = searchParams.get('fieldSelector') ?? ''
      const items = [...all(kind).values()].filter(
        (one) => kind !== 'events' || selector.includes(`involvedObject.uid=${one.involvedObject.uid}`),
      )
      return send(200, { metadata: { resourceVersion: String(version) }, items })
    }
    if (!all(kind).has(name)) return send(404, status(404, 'NotFound', `${kind} "${name}" not found`))
    if (request.method === 'DELETE') {
      remove(kind, name)
      return send(200, { kind: 'Status', apiVersion: 'v1', status: 'Success' })
    }
    return send(200, all(kind).get(name))
  }

  const http = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  writeFileSync(
    server.kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'operator', user: { token: 'operator' } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'operator', namespace: NAMESPACE } }],
    }),
  )
  return server
}

/** The body of an error response. */
export const status = (code: number, reason: string, message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
})

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())
}
