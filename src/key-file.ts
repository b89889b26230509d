import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from './config.ts'

/**
 * Reads a key of the data directory, or makes it at the first start: 32 random
 * bytes that nobody but the server's user can read.
 *
 * @param name such as `run-token`, for `keys/run-token.key`
 */
export function readKeyFile(config: Pick<Config, 'dataDir'>, name: string): Uint8Array {
  const folder = path.join(config.dataDir, 'keys')
  const file = path.join(folder, `${name}.key`)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // On the disk before anything is stored under it: what it seals is lost without it.
    writeFileSync(file, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx', flush: true })
  }
  const key = readFileSync(file)
  if (key.length !== KEY_BYTES) {
    throw new Error(`${file} is damaged: it must hold ${KEY_BYTES} bytes. Put it back, or remove it for another.`)
  }
  return key
}

const KEY_BYTES = 32
