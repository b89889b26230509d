import { identityOf } from '../../access/auth/accounts.ts'
import { signOutHeaders } from '../../access/auth/cookies.ts'
import type { AccessContext } from '../../access/auth/sign-in.ts'
import { errorPage, pageReply } from '../../http/html-page.ts'
import { type Reply, reply } from '../../http/route.ts'
import { AppError } from '../../platform/errors.ts'

/** Returns a page of authenticated mode, or an error page if the server is in another mode or the page fails. */
export function show(ctx: AccessContext, page: () => string): Reply {
  try {
    identityOf(ctx)
    return pageReply(page())
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return errorPage(error)
  }
}

/** Processes a form. On an error, returns the form again with the error. */
export async function showFormOnError(work: () => Promise<Reply>, again: (error: AppError) => string): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    try {
      return errorPage(error, again(error))
    } catch {
      return errorPage(error)
    }
  }
}

/** Returns a redirect with status 303, with an optional cookie. */
export const seeOther = (location: string, cookie?: string): Reply =>
  reply(303, null, { location, ...(cookie !== undefined && { 'set-cookie': cookie }) })

/** Returns the redirect after a sign-out. */
export const signedOut = (cookie: string): Reply => reply(303, null, { location: '/login', ...signOutHeaders(cookie) })
