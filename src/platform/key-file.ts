import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from './config.ts'

export const KEY_BYTES = 32

/**
 * Reads a key of the data directory, or creates it at the first start: 32
 * random bytes that only the user of the server can read.
 *
 * @param name such as `run-token`, for `keys/run-token.key`
 */
export function readKeyFile(config: Pick<Config, 'dataDir'>, name: string): Uint8Array {
  const found = findKeyFile(config, name)
  if (found) return found
  const file = fileOf(config, name)
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const key = randomBytes(KEY_BYTES)
  // The key must be on disk before anything is encrypted with it: without the key that data is lost.
  writeFileSync(file, key, { mode: 0o600, flag: 'wx', flush: true })
  return key
}

/** Reads a key of the data directory. Returns undefined if there is none. */
export function findKeyFile(config: Pick<Config, 'dataDir'>, name: string): Uint8Array | undefined {
  const file = fileOf(config, name)
  if (!existsSync(file)) return undefined
  const key = readFileSync(file)
  if (key.length !== KEY_BYTES) {
    throw new Error(
      `${file} is damaged: it must contain ${KEY_BYTES} bytes. Restore the file, or remove it to create a new key.`,
    )
  }
  return key
}

const fileOf = ({ dataDir }: Pick<Config, 'dataDir'>, name: string) => path.join(dataDir, 'keys', `${name}.key`)
