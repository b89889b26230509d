/**
 * Measures the web page in Chromium on a company with 10,000 issues, against a
 * warm server in a separate process: the first view, page changes,
 * a live event, and the tasks that block scrolling. Prints the median of a few
 * tries each. Needs chromium.
 *
 * Other work on the machine stretches the time of a task. The processor time of
 * the page's main thread is printed beside it: that is what the page costs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { packageRoot } from '../src/platform/package-root.ts'
import { startChromium } from '../test/browser/chromium.ts'
import { withFolder } from './process.ts'
import { seed } from './seed.ts'

const { values } = parseArgs({
  options: { issues: { type: 'string', default: '10000' }, tries: { type: 'string', default: '5' } },
})
const TRIES = Number(values.tries)
const EVENTS = 10_000

/** The duration from which a task counts as blocking, in milliseconds. */
const LONG_TASK_MS = 50

const print = (text: string) => process.stdout.write(`${text}\n`)
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
const report = (name: string, values: readonly number[], limit: number) =>
  print(
    `${name.padEnd(34)} ${median(values).toFixed(0).padStart(6)} ms   limit ${limit} ms   (${values.map((one) => one.toFixed(0)).join(', ')})`,
  )

const PAGES = [
  ['inbox', '.inbox-list, .empty'],
  ['agents', '.agent-row'],
  ['runs', '.runs-row'],
  ['costs', '.costs'],
  ['dashboard', '.dashboard'],
  ['activity', '.activity-row, .empty'],
  ['issues', '.issue-row'],
] as const

/** The message of the page that its first issues are on the screen, with the milliseconds since the navigation. */
const FIRST_VIEW = 'first view'

/** Has the page report its first view by itself. A call into the page while it loads would take part of its time. */
const REPORT_FIRST_VIEW = `shown('.issue-row').then((ms) => console.debug('${FIRST_VIEW}', ms))`

/**
 * A new window loads pages of its own, and the browser starts a process for the
 * next tab in advance. A navigation before that would wait for both.
 */
const WINDOW_MS = 1_000

/** Runs in the page: records the first display of each element, and every long task. */
const PROBE = `
  window.tasks = []
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) tasks.push(duration) })
    .observe({ type: 'longtask', buffered: true })
  window.shown = (selector, text) => new Promise((resolve) => {
    const look = () => {
      const found = [...document.querySelectorAll(selector)].find((one) => !text || one.textContent.includes(text))
      if (!found) return false
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
      return true
    }
    if (look()) return
    const observer = new MutationObserver(() => look() && observer.disconnect())
    observer.observe(document, { childList: true, subtree: true, characterData: true })
  })
`

await withFolder(async (folder) => {
  const { issueIds } = seed(folder, Number(values.issues))
  const { url, stop } = await startService(folder)
  const browser = await startChromium()
  try {
    const runId = await arrangeRun(url)
    await measureFirstView(browser, url)
    await measureFirstCpu(browser, url)
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    await page.addInitScript(PROBE)
    await page.goto(`${url}/ACM/issues`)
    await page.evaluate(`shown('.issue-row')`)
    await measurePageChanges(page)
    await measureLiveEvent(page, issueIds[issueIds.length - 1]!)
    await measureScroll(browser, page, `${url}/ACM/issues`, '#issues', 5_000 * 32, 'scroll 5,000 issues')
    await measureScroll(
      browser,
      page,
      `${url}/ACM/runs/${runId}`,
      '.run-scroll',
      10_000 * 24,
      'scroll a run of 10,000 events',
    )
  } finally {
    await browser.close()
    await stop()
  }
})

/** Starts the built program. The first start of a checkout builds the page. */
async function startService(dataDir: string): Promise<{ url: string; stop(): Promise<void> }> {
  const launcher = path.join(packageRoot(), 'bin/service.mjs')
  const child = spawn(process.execPath, [launcher, 'start', '--json', '--port', '0', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const stop = async () => {
    const exit = once(child, 'exit')
    child.kill('SIGINT')
    await exit
  }
  return { url: JSON.parse(line).url, stop }
}

/** Makes an agent write many events in one run, in the format of Claude Code. */
async function arrangeRun(url: string): Promise<string> {
  const call = async <T>(method: string, target: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${url}${target}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${target}: ${await response.text()}`)
    return (await response.json()) as T
  }
  const program = `
    for (let i = 0; i < ${EVENTS / 2}; i++) {
      const id = 'call-' + i
      const say = i % 3 === 0
        ? { type: 'text', text: 'Step ' + i + ': the **table** of the week, and what \`npm test\` says about it.' }
        : { type: 'tool_use', id, name: 'Bash', input: { command: 'npm test -- --only ' + i } }
      console.log(JSON.stringify({ type: 'assistant', message: { content: [say] } }))
      if (i % 3 !== 0) console.log(JSON.stringify({ type: 'user', message: { content: [
        { type: 'tool_result', tool_use_id: id, content: 'ok '.repeat(40) }] } }))
      console.log('line ' + i)
    }`
  const [company] = await call<{ id: string }[]>('GET', '/api/companies')
  const agent = await call<{ id: string }>('POST', `/api/companies/${company!.id}/agents`, {
    name: 'Chatty',
    adapterType: 'process',
    adapterConfig: { command: process.execPath, args: ['-e', program] },
  })
  await call('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
  for (;;) {
    const [run] = await call<{ id: string; finishedAt: string | null }[]>(
      'GET',
      `/api/companies/${company!.id}/runs?agentId=${agent.id}`,
    )
    if (run?.finishedAt) return run.id
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** From the start of the navigation until the first issues are on the screen, with an empty and with a full cache. */
async function measureFirstView(browser: Browser, url: string): Promise<void> {
  const cold: number[] = []
  const warm: number[] = []
  let requests = 0
  let bytes = 0
  for (let i = 0; i <= TRIES; i++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    for (const times of [cold, warm]) {
      const page = await context.newPage()
      const at = await openFirstView(page, url)
      // The first try warms the server.
      if (i > 0) times.push(at)
      if (times === cold) {
        const sizes: number[] = await page.evaluate(
          `performance.getEntriesByType('resource').map(({ transferSize }) => transferSize)`,
        )
        requests = sizes.length + 1
        bytes = sizes.reduce((sum, size) => sum + size, 0)
      }
      await page.close()
    }
    await context.close()
  }
  report('first view, empty cache', cold, 300)
  report('first view, full cache', warm, 300)
  print(`  ${requests} requests, ${(bytes / 1000).toFixed(0)} KB until the first view with an empty cache`)
}

/** Opens the issues in a new tab. @returns the time from the start of the navigation until they are on the screen */
async function openFirstView(page: Page, url: string): Promise<number> {
  await page.addInitScript(`${PROBE}; ${REPORT_FIRST_VIEW}`)
  await page.waitForTimeout(WINDOW_MS)
  const reported = page.waitForEvent('console', { predicate: (message) => message.text().startsWith(FIRST_VIEW) })
  await page.goto(`${url}/ACM/issues`, { waitUntil: 'commit' })
  return Number((await reported).text().slice(FIRST_VIEW.length))
}

/** Measures the processor time of the page's main thread until the first view, with a full cache. */
async function measureFirstCpu(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const times: number[] = []
  for (let i = 0; i <= TRIES; i++) {
    const page = await context.newPage()
    const tasks = await traceTasks(browser, page, () => openFirstView(page, url))
    if (i > 0) times.push(tasks.reduce((sum, { cpu }) => sum + cpu, 0))
    await page.close()
  }
  await context.close()
  report('first view, processor time', times, 300)
}

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args: { name?: string; data?: { url?: string } }
}

/** Traces the tasks of the page's main thread during some work, with their processor time in milliseconds. */
async function traceTasks(browser: Browser, page: Page, work: () => Promise<unknown>): Promise<{ cpu: number }[]> {
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'devtools.timeline'] })
  await work().catch(async (error) => {
    await browser.stopTracing()
    throw error
  })
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString('utf8'))
  const tasks = traceEvents.filter(({ name, ph }) => name === 'RunTask' && ph === 'X')
  // The window of the browser consists of pages too, each in its own process.
  const { origin } = new URL(page.url())
  const ours = new Set(traceEvents.filter(({ args }) => args.data?.url?.startsWith(origin)).map(({ pid }) => pid))
  const isMain = new Set(
    traceEvents
      .filter(({ pid, name, args }) => ours.has(pid) && name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}/${tid}`),
  )
  return tasks.filter(({ pid, tid }) => isMain.has(`${pid}/${tid}`)).map(({ tdur = 0 }) => ({ cpu: tdur / 1_000 }))
}

/** Measures the time from a click on a link of the sidebar to the display of the page. */
async function measurePageChanges(page: Page): Promise<void> {
  const first: number[] = []
  const again: number[] = []
  for (const times of [first, again]) {
    for (const [name, selector] of PAGES) {
      times.push(
        await page.evaluate(`(async () => {
          const from = performance.now()
          document.querySelector('.sidebar a[href="/ACM/${name}"]').click()
          return (await shown(${JSON.stringify(selector)})) - from
        })()`),
      )
      await page.waitForTimeout(150)
    }
  }
  report('page change, first time', first, 100)
  report('page change, again', again, 100)
}

/** Measures the time from the response to a change until the list displays it. */
async function measureLiveEvent(page: Page, issueId: string): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < TRIES; i++) {
    times.push(
      await page.evaluate(`(async () => {
        const title = 'Changed elsewhere, ${i}'
        const onScreen = shown('.row-link', title)
        await fetch('/api/issues/${issueId}', {
          method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ title }) })
        const from = performance.now()
        return Math.max(0, (await onScreen) - from)
      })()`),
    )
  }
  report('live event on the screen', times, 200)
}

/** Measures the tasks over 50 ms while an element is scrolled by a number of pixels. */
async function measureScroll(
  browser: Browser,
  page: Page,
  address: string,
  box: string,
  pixels: number,
  name: string,
): Promise<void> {
  await page.goto(address)
  await page.evaluate(`shown(${JSON.stringify(`${box} [role=listitem]`)})`)
  await page.waitForTimeout(1_500)
  let seen = { tasks: [] as number[], frames: [] as number[], reached: 0 }
  const traced = await traceTasks(browser, page, async () => {
    seen = (await page.evaluate(`(async () => {
    tasks.length = 0
    const frames = []
    const box = document.querySelector(${JSON.stringify(box)})
    const frame = () => new Promise(requestAnimationFrame)
    for (let done = 0; done < ${pixels}; done += 200) {
      const from = performance.now()
      box.scrollTop += 200
      await frame()
      frames.push(performance.now() - from)
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
    return { tasks: [...tasks], frames, reached: box.scrollTop }
  })()`)) as typeof seen
  })
  const tell = (what: string, all: readonly number[]) => {
    const long = all.filter((ms) => ms > LONG_TASK_MS)
    const longest = all.reduce((most, ms) => Math.max(most, ms), 0)
    print(
      `${`${name}, ${what}`.padEnd(34)} ${String(long.length).padStart(6)} tasks over ${LONG_TASK_MS} ms, the longest ${longest.toFixed(0)} ms`,
    )
  }
  print(`${name}: ${seen.reached.toFixed(0)} px, a frame in ${median(seen.frames).toFixed(0)} ms`)
  tell('time', seen.tasks)
  tell(
    'processor time',
    traced.map(({ cpu }) => cpu),
  )
}
