import { identityOf } from '../../access/auth/accounts.ts'
import type { AccessContext } from '../../access/auth/sign-in.ts'
import { headersOf } from '../../http/answer.ts'
import { html, pageOf, pageReply } from '../../http/page.ts'
import { type Reply, reply } from '../../http/route.ts'
import { AppError } from '../../platform/errors.ts'

/** A page that tells of an error. */
const errorReply = (page: string, error: AppError): Reply => pageReply(page, error.status, headersOf(error))

export const failurePage = (error: AppError) =>
  pageOf({ title: 'That did not work', body: html`<p><a href="/">Go to the start</a></p>`, error })

/** Answers with a page of authenticated mode, or with one that says why there is none. */
export function show(ctx: AccessContext, page: () => string): Reply {
  try {
    identityOf(ctx)
    return pageReply(page())
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return errorReply(failurePage(error), error)
  }
}

/** Does what a form asks for, or shows the form again with what was wrong. */
export async function orShow(work: () => Promise<Reply>, again: (error: AppError) => string): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    try {
      return errorReply(again(error), error)
    } catch {
      return errorReply(failurePage(error), error)
    }
  }
}

export const seeOther = (location: string, cookie?: string): Reply =>
  reply(303, null, { location, ...(cookie !== undefined && { 'set-cookie': cookie }) })
