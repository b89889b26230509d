import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import { uuid } from '../../platform/uuid.ts'

export const findUser = (db: Db, key: { id: string }) =>
  db.first(sql.selectFrom('auth_user').selectAll().where('id', '=', key.id))

/** @param key.email in lower case, as all addresses are stored */
export const findUserByEmail = (db: Db, key: { email: string }) =>
  db.first(sql.selectFrom('auth_user').select('id').where('email', '=', key.email))

export const isAnyUser = (db: Db): boolean => db.first(sql.selectFrom('auth_user').select('id').limit(1)) !== undefined

export interface NewUser {
  name: string
  /** In lower case. */
  email: string
  passwordHash: string
  mayCreateCompanies: boolean
}

/**
 * Inserts a person with a password, in the format of better-auth.
 *
 * @returns the user's id
 */
export function insertUser(db: Db, user: NewUser, at: string): string {
  const id = uuid()
  const times = { created_at: at, updated_at: at }
  const may = user.mayCreateCompanies ? 1 : 0
  db.run(
    sql.insertInto('auth_user').values({ id, name: user.name, email: user.email, may_create_companies: may, ...times }),
  )
  db.run(
    sql.insertInto('auth_account').values({
      id: uuid(),
      user_id: id,
      account_id: id,
      provider_id: 'credential',
      password: user.passwordHash,
      ...times,
    }),
  )
  return id
}

/** Returns the hash of a person's password; undefined if the person has none. */
export const findPasswordHash = (db: Db, of: { email: string }): string | null | undefined =>
  db.first(
    sql
      .selectFrom('auth_account')
      .innerJoin('auth_user', 'auth_user.id', 'auth_account.user_id')
      .select('password')
      .where('auth_user.email', '=', of.email)
      .where('provider_id', '=', 'credential'),
  )?.password

export const updatePassword = (db: Db, change: { userId: string; passwordHash: string; at: string }) =>
  db.run(
    sql
      .updateTable('auth_account')
      .set({ password: change.passwordHash, updated_at: change.at })
      .where('user_id', '=', change.userId)
      .where('provider_id', '=', 'credential'),
  )

/**
 * Ends every session of a person.
 *
 * @returns the number of sessions
 */
export const deleteSessions = (db: Db, of: { userId: string }) =>
  db.run(sql.deleteFrom('auth_session').where('user_id', '=', of.userId))

export const deleteExpiredSessions = (db: Db, at: string) =>
  db.run(sql.deleteFrom('auth_session').where('expires_at', '<', at))

/** Lists the sessions of a person that have not expired, the latest first. */
export const listSessions = (db: Db, of: { userId: string; at: string }) =>
  db.all(
    sql
      .selectFrom('auth_session')
      .select(['id', 'user_agent', 'created_at', 'expires_at'])
      .where('user_id', '=', of.userId)
      .where('expires_at', '>', of.at)
      .orderBy('created_at', 'desc'),
  )

/** Ends one session of a person. @returns 0 if there is no such session */
export const deleteSession = (db: Db, of: { id: string; userId: string }) =>
  db.run(sql.deleteFrom('auth_session').where('id', '=', of.id).where('user_id', '=', of.userId))
