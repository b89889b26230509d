import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * The claim of a run by one process on another machine. The server writes the
 * file only once. If an engine starts a job twice, only one process runs it.
 */
export interface Claim {
  instance: string
  node: string
}

const claimFile = (runDir: string) => path.join(runDir, 'claim.json')

export function readClaim(runDir: string): Claim | undefined {
  try {
    return JSON.parse(readFileSync(claimFile(runDir), 'utf8'))
  } catch {
    return undefined
  }
}

/** Writes the claim if there is none. @returns whether the process holds the claim */
export function writeClaim(runDir: string, claim: Claim): boolean {
  try {
    writeFileSync(claimFile(runDir), JSON.stringify(claim), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return isClaimedBy(runDir, claim.instance)
  }
}

export const isClaimedBy = (runDir: string, instance: string): boolean => readClaim(runDir)?.instance === instance
