import { compareSync, hashSync } from 'bcryptjs'
import type { ReadJob } from '../../platform/database/reader.ts'

/** The cost of bcrypt: about 50 ms for each hash on a small machine. */
const COST = 10

/** Hashes a password in a thread, because the main thread must not wait for it. */
export const hashPasswordJob: ReadJob<string, string> = {
  name: 'hash-password',
  run: (_, password) => hashSync(password, COST),
}

/** Compares a password with a hash in a thread. */
export const verifyPasswordJob: ReadJob<{ password: string; hash: string }, boolean> = {
  name: 'verify-password',
  run: (_, { password, hash }) => compareSync(password, hash),
}
