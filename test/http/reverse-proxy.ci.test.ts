import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { cookieOf, PASSWORD } from '../access/auth/people.ts'
import { startService } from '../clients/cli/service.ts'
import { temporaryFolder } from '../helpers.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

/** The examples of the documentation, without the lines around them. */
const examples = readFileSync(path.join(ROOT, 'docs/operations/reverse-proxy.md'), 'utf8').matchAll(
  /^```([^\n]*)\n(.*?)^```/gms,
)
const [caddyExample, nginxExample] = [...examples].flatMap(([, language, code]) => (language === '' ? [code!] : []))

interface Proxy {
  program: string
  /** Returns the arguments, and writes the configuration. Only names, ports and files of the example are replaced. */
  configure(at: { folder: string; port: number; upstream: string; cert: string; key: string }): string[]
}

const PROXIES: Proxy[] = [
  {
    program: '/usr/sbin/nginx',
    configure({ folder, port, upstream, cert, key }) {
      const server = nginxExample!
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace('server_name board.example', 'server_name localhost')
        .replace('/etc/ssl/board.example.pem', cert)
        .replace('/etc/ssl/board.example.key', key)
        .replace('http://127.0.0.1:3100', upstream)
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      )
      const file = path.join(folder, 'nginx.conf')
      writeFileSync(
        file,
        `user root; daemon off; pid ${folder}/pid; error_log ${folder}/errors; events {}\nhttp { access_log off; ${folders.join(' ')}\n${server}}\n`,
      )
      return ['-c', file, '-e', path.join(folder, 'errors')]
    },
  },
  {
    program: '/usr/bin/caddy',
    configure({ folder, port, upstream, cert, key }) {
      const site = caddyExample!
        .replace('board.example {', `https://localhost:${port} {\n  bind 127.0.0.1\n  tls ${cert} ${key}`)
        .replace('127.0.0.1:3100', new URL(upstream).host)
      const file = path.join(folder, 'Caddyfile')
      writeFileSync(
        file,
        `{\n  admin off\n  auto_https disable_redirects\n  storage file_system ${folder}/caddy\n}\n${site}`,
      )
      return ['run', '--config', file, '--adapter', 'caddyfile']
    },
  },
]

for (const proxy of PROXIES) {
  const skip = existsSync(proxy.program) ? false : `needs ${proxy.program}`
  test(`${path.basename(proxy.program)} with the documented configuration passes TLS, events and uploads, and placements reach the API`, {
    skip,
  }, async (t) => {
    const folder = temporaryFolder(t)
    const port = await freePort()
    const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, '-keyout', key, '-out', cert],
      { stdio: 'ignore' },
    )
    const args = [
      '--data-dir',
      path.join(folder, 'data'),
      '--mode',
      'authenticated',
      '--allowed-host',
      `localhost:${port}`,
      '--trust-proxy',
    ]
    const service = await startService(t, args)
    await start(t, proxy.program, proxy.configure({ folder, port, upstream: service.url, cert, key }), port)
    const send = createClient(port, readFileSync(cert))

    assert.equal((await send('GET', '/api/health')).status, 200)
    const token = new URL((service as unknown as { link: string }).link).searchParams.get('token')!
    const setup = new URLSearchParams({ token, name: 'Olga', email: 'o@example.com', password: PASSWORD }).toString()
    const origin = { origin: `https://localhost:${port}` }
    const made = await send('POST', '/setup', setup, { 'content-type': 'application/x-www-form-urlencoded', ...origin })
    assert.equal(made.status, 303, made.text)
    const setCookie = String(made.headers['set-cookie'])
    assert.match(setCookie, /; Secure/i)
    const cookie = { cookie: cookieOf(setCookie), ...origin }
    const json = { ...cookie, 'content-type': 'application/json' }
    const company = JSON.parse((await send('POST', '/api/companies', JSON.stringify({ name: 'Acme' }), json)).text)

    const event = send(
      'GET',
      `/api/companies/${company.id}/events`,
      undefined,
      { ...cookie, accept: 'text/event-stream' },
      /goal\.created/,
    )
    await delay(500)
    const goal = await send('POST', `/api/companies/${company.id}/goals`, JSON.stringify({ title: 'G' }), json)
    assert.equal(goal.status, 201, goal.text)
    assert.match((await event).text, /goal\.created/, 'the event is not buffered')

    const issue = JSON.parse(
      (await send('POST', `/api/companies/${company.id}/issues`, JSON.stringify({ title: 'I' }), json)).text,
    )
    const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(15_000_000)])
    const form = new FormData()
    form.set('file', new Blob([image], { type: 'image/png' }), 'a.png')
    const encoded = new Response(form)
    const upload = await send('POST', `/api/issues/${issue.id}/attachments`, Buffer.from(await encoded.arrayBuffer()), {
      ...cookie,
      'content-type': encoded.headers.get('content-type')!,
    })
    assert.equal(upload.status, 201, upload.text)

    const probe = spawn(process.execPath, ['src/runtime/remote/main.ts', 'probe'], {
      cwd: ROOT,
      env: { ...process.env, NODE_EXTRA_CA_CERTS: cert },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    probe.stdin.end(JSON.stringify({ workdir: path.join(folder, 'work'), url: `https://localhost:${port}` }))
    const [found] = await once(probe.stdout, 'data')
    assert.equal(JSON.parse(String(found)).apiError, null, 'a machine of a placement reaches publicUrl')
  })
}

async function start(t: TestContext, program: string, args: string[], port: number): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(async () => {
    if (child.exitCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  })
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  for (let tries = 0; tries < 200; tries++) {
    if (await isOpen(port)) return
    assert.equal(child.exitCode, null, log)
    await delay(50)
  }
  assert.fail(log)
}

const isOpen = (port: number) =>
  fetch(`http://127.0.0.1:${port}`).then(
    () => true,
    (error) => error.cause?.code !== 'ECONNREFUSED',
  )

/** Creates a function that sends requests over TLS. It resolves with the response, or as soon as its text matches. */
function createClient(port: number, ca: Buffer) {
  return (
    method: string,
    where: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
    until?: RegExp,
  ) =>
    new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const sent = request({ host: 'localhost', port, path: where, method, ca, headers, agent: false }, (response) => {
        let text = ''
        const finish = () => resolve({ status: response.statusCode!, headers: response.headers, text })
        response.on('data', (chunk) => {
          text += chunk
          if (!until?.test(text)) return
          finish()
          sent.destroy()
        })
        response.on('end', finish)
      })
      sent.setTimeout(20_000, () => sent.destroy(new Error(`No response to ${method} ${where}.`)))
      sent.on('error', reject)
      sent.end(body)
    })
}

async function freePort(): Promise<number> {
  const found = createServer().listen(0, '127.0.0.1')
  await once(found, 'listening')
  const { port } = found.address() as { port: number }
  await new Promise((resolve) => found.close(resolve))
  return port
}
