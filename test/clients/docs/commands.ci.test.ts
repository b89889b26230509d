import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'
import { startTestServer } from '../../server.ts'
import { arrange } from '../cli/example-company.ts'
import { environment, LAUNCHER } from '../cli/service.ts'

/** A fenced block of a page. */
interface Block {
  line: number
  info: string
  content: string
}

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(path.join(packageRoot(), 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]

function blocksOf(page: string): Block[] {
  const markdown = readFileSync(path.join(packageRoot(), page), 'utf8')
  return [...markdown.matchAll(/^( *)```(.*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent, 2: info, 3: content }) => ({
      line: markdown.slice(0, index).split('\n').length,
      info: info!,
      content: content!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

test('every command block is marked sh, or gives a reason why it is not run', () => {
  for (const page of PAGES) {
    for (const { line, info, content } of blocksOf(page)) {
      const isCommand = /^(\$ )?(npx |service |curl |npm )/m.test(content)
      assert.ok(!isCommand || /^sh( norun: \S.*)?$/.test(info), `${page}:${line}: ${info}`)
    }
  }
})

test('every command of the documentation runs', { timeout: 550_000 }, async (t) => {
  const todo = PAGES.filter((page) => blocksOf(page).some(({ info }) => info === 'sh'))
  assert.ok(todo.length > 10, todo.join(', '))
  const only = process.env.PAGE
  const failed: string[] = []
  const work = async () => {
    for (let page = todo.shift(); page !== undefined; page = todo.shift()) {
      const error = only === undefined || page.includes(only) ? await run(t, page) : undefined
      if (error !== undefined) failed.push(error)
    }
  }
  await Promise.all([work(), work(), work()])
  assert.equal(failed.join('\n'), '')
})

/** Runs the commands of a page in one shell, against a separate server. @returns the failed command and its error */
async function run(t: TestContext, page: string): Promise<string | undefined> {
  const { server, dataDir } = await startTestServer(t)
  const folder = temporaryFolder(t)
  await arrange(server.url, folder)
  const script = [
    `service() { '${process.execPath}' '${LAUNCHER}' "$@"; }`,
    'npx() { "$@"; }',
    'curl() { command curl --fail-with-body "$@"; }',
    'LINE=0',
    `trap 'code=$?; [ $code = 0 ] || echo "${page}:$LINE: exit $code" >&2' EXIT`,
    'value() { curl -sS "$SERVICE_API_URL$1" | sed "s/[],{}[]/\\n/g" | sed -n "s/^\\"id\\":\\"\\(.*\\)\\"$/\\1/p" | head -n 1; }',
    'export COMPANY=$(value /api/companies)',
    'export AGENT=$(value "/api/agents/kit?companyId=$COMPANY")',
    'export PROJECT=$(value "/api/projects/tide-table?companyId=$COMPANY")',
    'export ISSUE=$(value /api/issues/TER-6)',
    ...blocksOf(page)
      .filter(({ info }) => info === 'sh')
      .map(({ line, content }) => `LINE=${line}\n${content}`),
  ]
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script.join('\n')], {
    cwd: folder,
    env: environment({
      SERVICE_API_URL: server.url,
      SERVICE_HOME: dataDir,
      XDG_CONFIG_HOME: folder,
      BROWSER: 'true',
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('exit', resolve)),
  ])
  await server.close()
  return code === 0 ? undefined : `${err}${out.slice(-500)}`
}
