import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { limitRate, networkOf } from '../../http/rate-limit.ts'
import { validate } from '../../http/validate.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { acceptInvitation, openInvitation } from '../board/invitation.ts'
import { adoptCompanies } from '../board/membership-queries.ts'
import { deleteSessions, findPasswordHash, findUserByEmail, insertUser, isAnyUser } from '../board/user-queries.ts'
import type { Identity } from './identity.ts'
import { NewPassword } from './password.ts'
import type { AccessContext } from './sign-in.ts'

const email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.maxLength(254, 'must be at most 254 characters'),
  v.email('must be an e-mail address'),
)

const NewAccount = v.strictObject({ name: field.name, email, password: NewPassword })

/** The form for a new account, not yet validated. */
export interface AccountForm {
  name: string
  email: string
  password: string
}

/**
 * Returns the identity service, which only authenticated mode has.
 *
 * @throws AppError 404 in local trusted mode
 */
export function identityOf(ctx: AccessContext): Identity {
  if (ctx.signIn.identity) return ctx.signIn.identity
  throw new AppError(
    'not_found',
    'There are no accounts in local trusted mode. Start the server with --mode authenticated.',
  )
}

/**
 * Creates the first person with the link that the server printed at its start.
 * That person becomes the owner of all existing companies.
 */
export async function setUp(ctx: AccessContext, token: string, form: AccountForm, userAgent?: string): Promise<string> {
  const identity = identityOf(ctx)
  const want = validate(NewAccount, form)
  if (!ctx.signIn.setup?.use(token)) throw linkGone()
  try {
    const passwordHash = await identity.hashPassword(want.password)
    await ctx.write(() => {
      if (isAnyUser(ctx.db)) throw linkGone()
      insertUser(ctx.db, { ...want, passwordHash, mayCreateCompanies: true }, ctx.now)
      adoptCompanies(ctx.db, ctx.now)
    })
  } catch (error) {
    ctx.signIn.setup.giveBack(token)
    throw error
  }
  return beginSession(ctx, want, userAgent)
}

/** Creates an account with the link of an invitation, and makes its person a member. */
export async function joinAsNew(
  ctx: AccessContext,
  token: string,
  form: AccountForm,
  userAgent?: string,
): Promise<string> {
  const identity = identityOf(ctx)
  openInvitation(ctx, token)
  const want = validate(NewAccount, form)
  const passwordHash = await identity.hashPassword(want.password)
  await ctx.write(() => {
    openInvitation(ctx, token)
    if (findUserByEmail(ctx.db, want)) {
      throw invalid([{ path: 'email', message: 'already has an account; sign in, then open the link again' }])
    }
    acceptInvitation(ctx, insertUser(ctx.db, { ...want, passwordHash, mayCreateCompanies: false }, ctx.now), token)
  })
  return beginSession(ctx, want, userAgent)
}

/**
 * Signs a person in. The error does not say whether the email address or the
 * password is wrong.
 *
 * @returns the `Set-Cookie` value
 */
export async function signIn(
  ctx: AccessContext,
  address: string,
  credentials: { email: string; password: string },
  { cookie, userAgent }: { cookie: string | undefined; userAgent?: string | undefined },
): Promise<string> {
  const identity = identityOf(ctx)
  const account = credentials.email.trim().toLowerCase()
  const isUnderAttack = ctx.signIn.rates.take('sign-in of an account', account, Date.parse(ctx.now)) > 0
  const limit = isUnderAttack ? 'sign-in under attack' : 'sign-in'
  limitRate(ctx, ctx.signIn.rates, limit, `${networkOf(address)} ${account}`)
  const passwordHash = findPasswordHash(ctx.db, { email: account })
  const begun = await identity.signIn(account, credentials.password, cookie, userAgent)
  if (begun === undefined) throw wrongCredentials()
  if (findPasswordHash(ctx.db, { email: account }) !== passwordHash) {
    // Another request set a new password meanwhile and ended all sessions except this one, which began afterwards.
    await identity.signOut(begun.split(';')[0]!)
    throw wrongCredentials()
  }
  return begun
}

const wrongCredentials = () => new AppError('unauthenticated', 'The e-mail address or the password is wrong.')

/**
 * Changes a person's password and ends all other sessions of the person.
 *
 * @returns the `Set-Cookie` value
 */
export async function changePassword(
  ctx: AccessContext,
  who: { userId: string; cookie: string; userAgent: string | undefined },
  want: { currentPassword: string; newPassword: string },
): Promise<string> {
  limitRate(ctx, ctx.signIn.rates, 'sign-in', who.userId)
  validate(v.strictObject({ newPassword: NewPassword }), { newPassword: want.newPassword })
  const changed = await identityOf(ctx).changePassword(
    who.cookie,
    want.currentPassword,
    want.newPassword,
    who.userAgent,
  )
  if (changed === undefined) throw invalid([{ path: 'currentPassword', message: 'is wrong' }])
  return changed
}

/**
 * Ends all sessions of a person on the server.
 *
 * @returns the `Set-Cookie` value
 */
export async function signOutEverywhere(ctx: AccessContext, who: { userId: string; cookie: string }): Promise<string> {
  await ctx.write(() => deleteSessions(ctx.db, who))
  return identityOf(ctx).signOut(who.cookie)
}

async function beginSession(
  ctx: AccessContext,
  { email, password }: AccountForm,
  userAgent: string | undefined,
): Promise<string> {
  const cookie = await identityOf(ctx).signIn(email, password, undefined, userAgent)
  if (cookie === undefined) throw new Error('The new account could not be signed in.')
  return cookie
}

const linkGone = () =>
  new AppError(
    'not_found',
    'This link was already used, or belongs to an earlier start of the server. Use the link that the server printed last.',
  )
