import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { type Browser, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

const found = PLACES.find((file) => existsSync(file))

/** Why the browser's tests do not run here; false where they do. In CI they always run, and fail without a browser. */
export const NO_CHROMIUM: string | false =
  !found && !process.env.CI && 'NOT RUN: there is no chromium here. Install it to test against a real browser.'

/**
 * Starts a real browser, which is closed after the test. Every `*.example` is
 * this machine: names that an attacker would point at it.
 */
export async function launchChromium(t: TestContext): Promise<Browser> {
  const browser = await startChromium()
  t.after(() => browser.close())
  return browser
}

/** Starts a real browser. The caller closes it. */
export function startChromium(): Promise<Browser> {
  if (!found) throw new Error('There is no chromium: apt-get install chromium.')
  return chromium.launch({
    executablePath: found,
    args: ['--no-sandbox', '--host-resolver-rules=MAP *.example 127.0.0.1', '--disable-dev-shm-usage'],
  })
}
