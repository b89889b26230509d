import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { type Browser, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

const found = PLACES.find((file) => existsSync(file))

/** The reason to skip the browser tests, or false. In CI they always run, and fail without a browser. */
export const NO_CHROMIUM: string | false =
  !found && !process.env.CI && 'NOT RUN: there is no chromium here. Install it to test against a real browser.'

/**
 * Starts a real browser, and closes it after the test. Every `*.example` resolves to
 * this machine, like the host name of an attacker.
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
