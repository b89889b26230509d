import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * The claim of a run by one process on another machine. The file is written
 * once, so a job that an engine starts twice runs once.
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

/** Records the claim, if there is none yet. @returns whether the process has the claim */
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
