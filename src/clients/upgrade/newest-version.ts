import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { packageRoot } from '../../platform/package-root.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'

const TIMEOUT_MS = 10_000

/** Returns the name of the package on npm. In a checkout, package.json has another `name`. */
export function npmName(root = packageRoot()): string {
  const { name, npmName = name } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  return npmName
}

const Answer = v.object({ version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+/)) })

/**
 * Asks a registry for the newest version of the package. Nothing but the name
 * of the package is sent.
 *
 * @throws CliError if the registry cannot be reached or does not know the package
 */
export async function fetchNewestVersion(registry: string): Promise<string> {
  const url = `${registry.replace(/\/$/, '')}/${npmName().replace('/', '%2f')}/latest`
  const failed = (why: string) =>
    new CliError(EXIT.failure, `The newest version is not known: ${why} Nothing was changed.`)
  let response: Response
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (error) {
    const { cause, name } = error as Error & { cause?: { code?: string } }
    const reason = name === 'TimeoutError' ? 'no response in 10 s' : (cause?.code ?? (error as Error).message)
    throw failed(`${new URL(registry).host} cannot be reached (${reason}).`)
  }
  if (response.status === 404) throw failed(`${npmName()} is not published at ${new URL(registry).host}.`)
  const reply = v.safeParse(Answer, response.ok ? await response.json().catch(() => undefined) : undefined)
  if (!reply.success) throw failed(`${new URL(registry).host} responded with ${response.status} and no version.`)
  return reply.output.version
}

/** Compares two versions by their three numbers. A pre-release counts as its version. */
export function compareVersions(a: string, b: string): number {
  const numbers = (version: string) => version.split(/[-+]/)[0]!.split('.').map(Number)
  const [left, right] = [numbers(a), numbers(b)]
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return Math.sign(left[i]! - right[i]!)
  return 0
}
