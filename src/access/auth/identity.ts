import path from 'node:path'
import { betterAuth } from 'better-auth'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import type { Config } from '../../platform/config.ts'
import { createReader } from '../../platform/database/reader.ts'
import { SESSION_COOKIE } from './cookies.ts'
import { PASSWORD_BYTES } from './password.ts'
import { hashPasswordJob, verifyPasswordJob } from './password-jobs.ts'

/** Passwords and sessions of people, stored by better-auth. Only authenticated mode loads this module. */
export interface Identity {
  /** Returns the user of the session in a `Cookie` header; undefined if it has no valid session. */
  sessionOf(cookie: string): Promise<{ userId: string } | undefined>
  /**
   * Begins a session and ends the previous session of the request.
   *
   * @returns the `Set-Cookie` value; undefined if the email address or the
   *   password is wrong
   */
  signIn(email: string, password: string, cookie: string | undefined): Promise<string | undefined>
  /**
   * Ends the session in a `Cookie` header on the server.
   *
   * @returns the `Set-Cookie` value
   */
  signOut(cookie: string): Promise<string>
  /**
   * Changes the password, ends every session of the person and begins a new
   * one.
   *
   * @returns the `Set-Cookie` value; undefined if the current password is wrong
   */
  changePassword(cookie: string, current: string, next: string): Promise<string | undefined>
  /** @throws AppError `rate_limited` if too many passwords wait; the other calls with a password do the same */
  hashPassword(password: string): Promise<string>
  close(): Promise<void>
}

/** The maximum number of queued passwords. Each takes about 50 ms, so clients of a longer queue would time out. */
const MAX_WAITING = 32

/** In milliseconds. One password takes 50; a machine that is busy with runs may need much longer. */
const TIME_LIMIT_MS = 20_000

/** The lifetime of a session in seconds, regardless of its use. */
const SESSION_LASTS = 14 * 24 * 60 * 60

/**
 * Opens better-auth with its own connection to the server's database. Its
 * statements run one by one, because a transaction that waits would lock the
 * database against the server's writes.
 *
 * @param key signs the cookies; 32 bytes
 */
export function openIdentity(config: Pick<Config, 'dataDir' | 'trustProxy'>, key: Uint8Array): Identity {
  const file = path.join(config.dataDir, 'service.db')
  // Passwords have their own thread: the main thread must not wait for them, and searches use the reader's thread.
  const thread = createReader(file, { maxQueued: MAX_WAITING, queued: 'sign-ins' })
  const limits = { timeLimitMs: TIME_LIMIT_MS }
  const hashPassword = (password: string) => thread.run(hashPasswordJob, password, limits)
  const sqlite = new Database(file, { fileMustExist: true })
  sqlite.pragma('busy_timeout = 5000')
  sqlite.pragma('synchronous = full')
  sqlite.pragma('foreign_keys = on')
  sqlite.pragma('trusted_schema = off')
  const auth = betterAuth({
    // better-auth receives no HTTP requests, so it needs no address. The server validates links and origins itself.
    baseURL: 'http://localhost',
    secret: Buffer.from(key).toString('base64url'),
    database: {
      db: new Kysely({ dialect: new SqliteDialect({ database: sqlite }) }),
      type: 'sqlite',
      transaction: false,
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_BYTES.least,
      maxPasswordLength: PASSWORD_BYTES.most,
      password: {
        hash: hashPassword,
        verify: ({ hash, password }) => thread.run(verifyPasswordJob, { password, hash }, limits),
      },
    },
    session: {
      modelName: 'auth_session',
      fields: SESSION_FIELDS,
      expiresIn: SESSION_LASTS,
      disableSessionRefresh: true,
    },
    user: { modelName: 'auth_user', fields: USER_FIELDS },
    account: { modelName: 'auth_account', fields: ACCOUNT_FIELDS },
    verification: { modelName: 'auth_verification', fields: VERIFICATION_FIELDS },
    advanced: { cookiePrefix: 'service', useSecureCookies: config.trustProxy },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })
  const cookieOf = (headers: Headers): string => {
    const cookie = headers.getSetCookie().find((one) => one.split('=')[0]!.endsWith(SESSION_COOKIE))
    if (cookie === undefined) throw new Error('better-auth set no cookie.')
    return cookie
  }
  const withCookie = (cookie: string) => new Headers({ cookie })

  return {
    async sessionOf(cookie) {
      if (!cookie.includes(`${SESSION_COOKIE}=`)) return undefined
      const found = await auth.api.getSession({ headers: withCookie(cookie) })
      return found ? { userId: found.user.id } : undefined
    },
    async signIn(email, password, cookie) {
      const begun = await orRefused(
        auth.api.signInEmail({ body: { email, password }, headers: new Headers(), returnHeaders: true }),
      )
      if (begun && cookie !== undefined) await auth.api.signOut({ headers: withCookie(cookie) })
      return begun && cookieOf(begun.headers)
    },
    async signOut(cookie) {
      const { headers } = await auth.api.signOut({ headers: withCookie(cookie), returnHeaders: true })
      return cookieOf(headers)
    },
    async changePassword(cookie, currentPassword, newPassword) {
      const body = { currentPassword, newPassword, revokeOtherSessions: true }
      const changed = await orRefused(
        auth.api.changePassword({ body, headers: withCookie(cookie), returnHeaders: true }),
      )
      return changed && cookieOf(changed.headers)
    },
    hashPassword,
    async close() {
      await thread.close()
      sqlite.close()
    },
  }
}

/** Returns the result of a call, or undefined if better-auth refused it. Any other error is thrown. */
async function orRefused<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    const { statusCode } = error as { statusCode?: number }
    if (statusCode === 400 || statusCode === 401 || statusCode === 403) return undefined
    throw error
  }
}

const TIMES = { createdAt: 'created_at', updatedAt: 'updated_at' }
const SESSION_FIELDS = {
  ...TIMES,
  userId: 'user_id',
  expiresAt: 'expires_at',
  ipAddress: 'ip_address',
  userAgent: 'user_agent',
}
const USER_FIELDS = { ...TIMES, emailVerified: 'email_verified' }
const ACCOUNT_FIELDS = {
  ...TIMES,
  userId: 'user_id',
  accountId: 'account_id',
  providerId: 'provider_id',
  accessToken: 'access_token',
  refreshToken: 'refresh_token',
  idToken: 'id_token',
  accessTokenExpiresAt: 'access_token_expires_at',
  refreshTokenExpiresAt: 'refresh_token_expires_at',
}
const VERIFICATION_FIELDS = { ...TIMES, expiresAt: 'expires_at' }
