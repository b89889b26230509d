import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { seedDemoCompany } from '../../../src/clients/demo/seed.ts'
import { findWebFolder } from '../../../src/clients/web/serve.ts'
import type { Config } from '../../../src/platform/config.ts'
import { launchChromium } from '../../browser/chromium.ts'
import { startTestServer, type TestServer } from '../../server.ts'

/** Builds the page if it is older than its sources. @returns its folder */
export async function builtPage(): Promise<string> {
  const { buildWebIfStale } = await import(fileURLToPath(new URL('../../../build.mjs', import.meta.url)))
  await buildWebIfStale()
  return findWebFolder()!
}

export interface OpenPage extends TestServer {
  browser: Browser
  /** The URL without a trailing slash. */
  url: string
  /** Opens another window, with its own session. */
  open(options?: BrowserContextOptions): Promise<Page>
  /** The console errors and script errors of the pages. */
  faults: string[]
}

/** Starts the real server with the page, and a browser. */
export async function openPage(t: TestContext, config: Partial<Config> = {}): Promise<OpenPage> {
  const server = await startTestServer(t, { ...config, webFolder: await builtPage() })
  const browser = await launchChromium(t)
  const faults: string[] = []
  const open = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
    const page = await context.newPage()
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text())
    })
    return page
  }
  return { ...server, browser, url: `http://localhost:${server.port}`, open, faults }
}

/** Creates the demo company and starts its agents. @returns its id */
export async function seedDemo({ server, dataDir }: TestServer): Promise<string> {
  const company = await seedDemoCompany({ url: server.url, dataDir })
  return company!.id
}
