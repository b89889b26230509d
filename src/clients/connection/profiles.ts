import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import envPaths from 'env-paths'

/** A server that the user is logged in to. */
export interface Profile {
  url: string
  token?: string
}

export interface Profiles {
  /** The profile that commands use without `--profile`. */
  current?: string | undefined
  profiles: Record<string, Profile>
}

const profilesFile = () => path.join(envPaths('service', { suffix: '' }).config, 'servers.json')

/** Reads the profiles of the user. Returns none if there is no file. */
export function readProfiles(): Profiles {
  try {
    const { current, profiles } = JSON.parse(readFileSync(profilesFile(), 'utf8')) as Partial<Profiles>
    return { current, profiles: profiles ?? {} }
  } catch {
    return { profiles: {} }
  }
}

/** Replaces the file of the profiles. Only the user can read it, because it contains tokens. */
export function writeProfiles(profiles: Profiles): void {
  const file = profilesFile()
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(profiles, null, 2), { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
}
