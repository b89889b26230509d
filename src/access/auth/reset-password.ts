import * as v from 'valibot'
import { validate } from '../../http/validate.ts'
import { isSameSecret } from '../../platform/credential.ts'
import { AppError, forbidden, notFound } from '../../platform/errors.ts'
import { deleteSessions, findUser, findUserByEmail, updatePassword } from '../board/user-queries.ts'
import { identityOf } from './accounts.ts'
import { NewPassword } from './password.ts'
import type { AccessContext } from './sign-in.ts'

/**
 * Creates a password-reset link. It requires the key in the data directory, and
 * no role of a company: the person may belong to other companies, which an
 * admin could otherwise take over.
 *
 * @returns the token of the link and its expiry
 */
export function makeResetLink(ctx: AccessContext, want: { key: string; email: string }) {
  identityOf(ctx)
  if (!isSameSecret(want.key, ctx.signIn.resets.key)) {
    throw forbidden(
      'This key is wrong. Run `service reset-password` on the machine of the server to create a password-reset link.',
    )
  }
  const user = findUserByEmail(ctx.db, { email: want.email.trim().toLowerCase() })
  if (!user) throw notFound('account', want.email)
  ctx.log.info('A password-reset link was created.', { user: user.id })
  return ctx.signIn.resets.make(user.id, ctx.now)
}

/** Returns the person of a valid link. */
export function personOfReset(ctx: AccessContext, token: string): { id: string; name: string; email: string } {
  const userId = ctx.signIn.resets.find(token, ctx.now)
  const user = userId === undefined ? undefined : findUser(ctx.db, { id: userId })
  if (!user) throw linkGone()
  return user
}

/**
 * Sets the password of the link's person, ends all their sessions and begins a
 * new one.
 *
 * @returns the `Set-Cookie` value
 */
export async function resetPassword(
  ctx: AccessContext,
  want: { token: string; password: string },
  { cookie, userAgent }: { cookie: string | undefined; userAgent: string | undefined },
): Promise<string> {
  const identity = identityOf(ctx)
  const { id, email } = personOfReset(ctx, want.token)
  const { password } = validate(v.strictObject({ password: NewPassword }), { password: want.password })
  const passwordHash = await identity.hashPassword(password)
  const link = ctx.signIn.resets.take(want.token, ctx.now)
  if (link?.userId !== id) throw linkGone()
  try {
    await ctx.write(() => {
      updatePassword(ctx.db, { userId: id, passwordHash, at: ctx.now })
      deleteSessions(ctx.db, { userId: id })
    })
  } catch (error) {
    link.giveBack()
    throw error
  }
  ctx.log.info('A password was reset with a link.', { user: id })
  const begun = await identity.signIn(email, password, cookie, userAgent)
  if (begun === undefined) throw new Error('The person could not be signed in after the password reset.')
  return begun
}

const linkGone = () =>
  new AppError(
    'not_found',
    'This link was already used, has expired, or belongs to an earlier start of the server. Ask the operator of the server for a new one.',
  )
