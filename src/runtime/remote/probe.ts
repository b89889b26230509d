import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { findProgram } from '../process/capabilities.ts'
import { absoluteWorkdir } from './lay-out.ts'
import { causeOf } from './request.ts'

/** The properties of a machine that `service placement test` checks. */
export interface ProbeResult {
  node: string
  hostname: string
  clock: string
  /** The reason why the folder for runs is not writable, or null. */
  folderError: string | null
  freeBytes: number
  git: boolean
  /** The reason why the API cannot be reached, or null. */
  apiError: string | null
}

export async function probe({ workdir, url }: { workdir: string; url: string }): Promise<ProbeResult> {
  const folder = absoluteWorkdir(workdir)
  let folderError: string | null = null
  let freeBytes = 0
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = path.join(folder, `.probe-${process.pid}`)
    writeFileSync(file, 'x')
    rmSync(file)
    const { bavail, bsize } = statfsSync(folder)
    freeBytes = bavail * bsize
  } catch (error) {
    folderError = (error as Error).message
  }
  return {
    node: process.versions.node,
    hostname: hostname(),
    clock: new Date().toISOString(),
    folderError,
    freeBytes,
    git: findProgram('git', process.env.PATH) !== null,
    apiError: await apiErrorOf(url),
  }
}

async function apiErrorOf(url: string): Promise<string | null> {
  try {
    const response = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(10_000) })
    if (response.ok && ((await response.json()) as { status?: string }).status === 'ok') return null
    return `${url} responded with status ${response.status}, which is not this server.`
  } catch (error) {
    return causeOf(error)
  }
}
