import path from 'node:path'
import { betterAuth } from 'better-auth'
import Database from 'better-sqlite3'
import { type DatabaseConnection, type Dialect, Kysely, SqliteDialect } from 'kysely'
import type { Config } from '../../platform/config.ts'
import { createReader } from '../../platform/database/reader.ts'
import { PASSWORD_BYTES } from './password.ts'
import { hashPasswordJob, verifyPasswordJob } from './password-jobs.ts'

/** Passwords and sessions of people, stored by better-auth. Only authenticated mode loads this module. */
export interface Identity {
  /** Returns the user of the session in a `Cookie` header; undefined if it has no valid session. */
  sessionOf(cookie: string): Promise<{ userId: string; sessionId: string } | undefined>
  /**
   * Begins a session and ends the previous session of the request.
   *
   * @param userAgent names the browser in the person's list of sessions
   * @returns the `Set-Cookie` value; undefined when e-mail and password are not those of a person
   */
  signIn(
    email: string,
    password: string,
    cookie: string | undefined,
    userAgent?: string | undefined,
  ): Promise<string | undefined>
  /** Ends the session of a `Cookie` header, on the server too. @returns the `Set-Cookie` value */
  signOut(cookie: string): Promise<string>
  /**
   * Changes the password, ends every session of the person and begins a new
   * one.
   *
   * @returns the `Set-Cookie` value; undefined if the current password is wrong
   */
  changePassword(
    cookie: string,
    current: string,
    next: string,
    userAgent: string | undefined,
  ): Promise<string | undefined>
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
 * @param cookieName of the session's cookie
 * @param untilFree resolves when no long change blocks the database; writes wait for it
 */
export function openIdentity(
  config: Pick<Config, 'dataDir' | 'trustProxy'>,
  key: Uint8Array,
  cookieName: string,
  untilFree: () => Promise<void>,
): Identity {
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
      db: new Kysely({ dialect: dialectOf(sqlite, untilFree) }),
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
    advanced: {
      // The default prefix of better-auth for https is `__Secure-`.
      useSecureCookies: false,
      cookies: { session_token: { name: cookieName, attributes: { secure: config.trustProxy } } },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })
  const cookieOf = (headers: Headers): string => {
    const cookie = headers.getSetCookie().find((one) => one.startsWith(`${cookieName}=`))
    if (cookie === undefined) throw new Error('better-auth set no cookie.')
    return cookie
  }
  const withCookie = (cookie: string) => new Headers({ cookie })
  const withUserAgent = (userAgent = '', headers = new Headers()) => {
    headers.set('user-agent', userAgent.slice(0, 200))
    return headers
  }

  return {
    async sessionOf(cookie) {
      if (!cookie.includes(`${cookieName}=`)) return undefined
      const found = await auth.api.getSession({ headers: withCookie(cookie) })
      return found ? { userId: found.user.id, sessionId: found.session.id } : undefined
    },
    async signIn(email, password, cookie, userAgent) {
      const headers = withUserAgent(userAgent)
      const begun = await orRefused(auth.api.signInEmail({ body: { email, password }, headers, returnHeaders: true }))
      if (begun && cookie !== undefined) await auth.api.signOut({ headers: withCookie(cookie) })
      return begun && cookieOf(begun.headers)
    },
    async signOut(cookie) {
      const { headers } = await auth.api.signOut({ headers: withCookie(cookie), returnHeaders: true })
      return cookieOf(headers)
    },
    async changePassword(cookie, currentPassword, newPassword, userAgent) {
      const body = { currentPassword, newPassword, revokeOtherSessions: true }
      const headers = withUserAgent(userAgent, withCookie(cookie))
      const changed = await orRefused(auth.api.changePassword({ body, headers, returnHeaders: true }))
      return changed && cookieOf(changed.headers)
    },
    hashPassword,
    async close() {
      await thread.close()
      sqlite.close()
    },
  }
}

/**
 * Kysely's dialect, except that a write waits until the database is free:
 * the busy timeout of SQLite would block the main thread, and with it the long
 * change that it waits for. Reads do not wait.
 */
function dialectOf(sqlite: Database.Database, untilFree: () => Promise<void>): Dialect {
  const dialect = new SqliteDialect({ database: sqlite })
  const connection: DatabaseConnection = {
    async executeQuery({ query, sql, parameters }) {
      if (query.kind !== 'SelectQueryNode') await untilFree()
      const statement = sqlite.prepare(sql)
      if (statement.reader) return { rows: statement.all(...parameters) as never[] }
      return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) }
    },
    async *streamQuery() {
      yield* []
      throw new Error('Streams are not used.')
    },
  }
  const refuse = async () => {
    throw new Error('Transactions are not used.')
  }
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: async () => {},
      destroy: async () => {},
    }),
  }
}

/** Returns the result of a call, or undefined if better-auth refused it. Any other error is rethrown. */
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
