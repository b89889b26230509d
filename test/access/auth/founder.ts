import type { TestContext } from 'node:test'
import type { Config } from '../../../src/platform/config.ts'
import { good } from '../../contract/world.ts'
import type { TestApp } from '../../helpers.ts'
import { createPeopleApp, type PeopleApp, type Person } from './people.ts'

/** Creates the app in authenticated mode. `board` is the same app with requests of a person who may create companies. */
export async function createFoundedApp(
  t: TestContext,
  overrides: Partial<Config> = {},
): Promise<{ app: PeopleApp; founder: Person; board: TestApp }> {
  const app = createPeopleApp(t, { environment: { PATH: process.env.PATH ?? '' }, ...overrides })
  const founder = await app.person('Olga', {}, true)
  const { request } = founder
  return { app, founder, board: { ...app, request, make: (method, path, body) => good(request(method, path, body)) } }
}
