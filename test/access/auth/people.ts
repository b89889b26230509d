import type { TestContext } from 'node:test'
import { hashSync } from 'bcryptjs'
import { openIdentity } from '../../../src/access/auth/identity.ts'
import { createOneTimeLink } from '../../../src/access/auth/one-time-link.ts'
import { insertMembership } from '../../../src/access/board/membership-queries.ts'
import { insertUser } from '../../../src/access/board/user-queries.ts'
import type { Role } from '../../../src/access/caller/role.ts'
import type { Config } from '../../../src/platform/config.ts'
import { createTestApp, type SendRequest, type TestApp } from '../../helpers.ts'

/** The password of every test person. */
export const PASSWORD = 'correct horse battery'

/** Hashed with the lowest bcrypt cost, because every test person signs in. */
const PASSWORD_HASH = hashSync(PASSWORD, 4)

/** The app in authenticated mode, with better-auth over its database. */
export interface PeopleApp extends TestApp {
  /** Creates a person, with roles by company id. */
  person(name: string, roles?: Record<string, Role>, mayCreateCompanies?: boolean): Promise<Person>
  /** Sends requests with a cookie. */
  with(cookie: string): SendRequest
  /** Submits a form like a browser. */
  submit(path: string, fields: Record<string, string>, cookie?: string): ReturnType<SendRequest>
}

export interface Person {
  id: string
  email: string
  /** The value of the `Cookie` header. */
  cookie: string
  request: SendRequest
}

export function createPeopleApp(t: TestContext, overrides: Partial<Config> = {}): PeopleApp {
  const app = createTestApp(t, { mode: 'authenticated', ...overrides })
  const identity = openIdentity(app.config, new Uint8Array(32).fill(5), app.ctx.signIn.cookies.session, () =>
    app.ctx.untilFree(),
  )
  app.onClose(() => identity.close())
  Object.assign(app.ctx.signIn, { identity, setup: createOneTimeLink() })
  const withCookie =
    (cookie: string): SendRequest =>
    (method, path, body, headers) =>
      app.request(method, path, body, { cookie, ...headers })

  return {
    ...app,
    with: withCookie,
    submit: (path, fields, cookie) =>
      app.request('POST', path, new URLSearchParams(fields).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
        ...(cookie && { cookie }),
      }),
    async person(name, roles = {}, mayCreateCompanies = false) {
      const email = `${name.toLowerCase()}@example.com`
      const user = { name, email, passwordHash: PASSWORD_HASH, mayCreateCompanies }
      const id = await app.ctx.write(() => {
        const id = insertUser(app.ctx.db, user, app.ctx.now)
        for (const [company_id, role] of Object.entries(roles)) {
          insertMembership(app.ctx.db, { company_id, user_id: id, role, created_at: app.ctx.now })
        }
        return id
      })
      const cookie = cookieOf((await identity.signIn(email, PASSWORD, undefined))!)
      return { id, email, cookie, request: withCookie(cookie) }
    },
  }
}

/** Returns the `name=value` part of a `Set-Cookie` header. */
export const cookieOf = (setCookie: string | null) => setCookie?.split(';')[0] ?? ''
