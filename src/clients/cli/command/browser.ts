import { spawn } from 'node:child_process'

/** Opens a page in the user's browser, without a shell. */
export function openBrowser(url: string, onFailure: (error: unknown) => void): void {
  const program = process.env.BROWSER || (process.platform === 'darwin' ? 'open' : 'xdg-open')
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.on('error', onFailure)
  child.unref()
}
