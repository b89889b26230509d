import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { MembershipTable } from '../../platform/database/tables.ts'
import type { Role } from '../caller/role.ts'

const membership = prepared((key: { companyId: string; userId: string }) =>
  sql.selectFrom('membership').selectAll().where('company_id', '=', key.companyId).where('user_id', '=', key.userId),
)

export const findMembership = (db: Db, key: { companyId: string; userId: string }) => db.first(membership(key))

const membershipsOf = prepared((of: { userId: string }) =>
  sql.selectFrom('membership').select(['company_id', 'role']).where('user_id', '=', of.userId),
)

export const listMemberships = (db: Db, of: { userId: string }) => db.all(membershipsOf(of))

/** Selects the members of a company with their names and email addresses. */
export const selectMembers = (of: { companyId: string }) =>
  sql
    .selectFrom('membership')
    .innerJoin('auth_user', 'auth_user.id', 'membership.user_id')
    .select(['membership.user_id', 'auth_user.name', 'auth_user.email', 'membership.role', 'membership.created_at'])
    .where('membership.company_id', '=', of.companyId)

export const findMember = (db: Db, key: { companyId: string; userId: string }) =>
  db.first(selectMembers(key).where('membership.user_id', '=', key.userId))

export const insertMembership = (db: Db, row: Insertable<MembershipTable>) =>
  db.run(sql.insertInto('membership').values(row))

export const updateMembership = (db: Db, change: { companyId: string; userId: string; role: Role }) =>
  db.run(
    sql
      .updateTable('membership')
      .set({ role: change.role })
      .where('company_id', '=', change.companyId)
      .where('user_id', '=', change.userId),
  )

export const deleteMembership = (db: Db, key: { companyId: string; userId: string }) =>
  db.run(sql.deleteFrom('membership').where('company_id', '=', key.companyId).where('user_id', '=', key.userId))

export const countOwners = (db: Db, of: { companyId: string }): number =>
  db.first(
    sql
      .selectFrom('membership')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('company_id', '=', of.companyId)
      .where('role', '=', 'owner'),
  )!.n

export const mayCreateCompanies = (db: Db, of: { userId: string }): boolean =>
  db.first(sql.selectFrom('auth_user').select('may_create_companies').where('id', '=', of.userId))
    ?.may_create_companies === 1

/**
 * Makes the person who set up the server the owner of all companies without
 * members, which local trusted mode created.
 */
export const adoptCompanies = (db: Db, at: string) =>
  db.run(
    sql
      .insertInto('membership')
      .columns(['company_id', 'user_id', 'role', 'created_at'])
      .expression(
        sql
          .selectFrom('company')
          .innerJoin('auth_user', (join) => join.on('may_create_companies', '=', 1))
          .select(['company.id', 'auth_user.id as user_id', raw<Role>`'owner'`.as('role'), raw<string>`${at}`.as('at')])
          .where((eb) =>
            eb.not(eb.exists(eb.selectFrom('membership').select('user_id').whereRef('company_id', '=', 'company.id'))),
          ),
      ),
  )

/** Copies the members of a company, with their roles, to another one. The role of an existing member does not change. */
export const copyMemberships = (db: Db, copy: { from: string; to: string; at: string }) =>
  db.run(
    sql
      .insertInto('membership')
      .columns(['company_id', 'user_id', 'role', 'created_at'])
      .expression(
        sql
          .selectFrom('membership')
          .select([raw<string>`${copy.to}`.as('company_id'), 'user_id', 'role', raw<string>`${copy.at}`.as('at')])
          .where('company_id', '=', copy.from),
      )
      .onConflict((conflict) => conflict.doNothing()),
  )
