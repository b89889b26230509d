import { type TestContext, test } from 'node:test'
import { ROWS, type Row, type Section } from './rows.ts'
import { createWorld, type World } from './world.ts'

export type Check = (world: World, t: TestContext) => unknown

/**
 * Registers a test for each row of a section, named after it. A row without a
 * check does not compile.
 */
export function contract<S extends Section>(section: S, checks: Record<Row<S>, Check>): void {
  for (const row of ROWS[section] as readonly Row<S>[]) {
    test(row as string, async (t) => void (await checks[row](await createWorld(t), t)))
  }
}
