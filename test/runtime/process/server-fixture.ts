/**
 * Simulates the server: starts the run that standard input describes, prints its
 * identity, and follows it until it is killed.
 */
import { text } from 'node:stream/consumers'
import { spawnRun } from '../../../src/runtime/process/process.ts'
import type { RunSpec } from '../../../src/runtime/process/run-files.ts'

const [runDir, ...shim] = process.argv.slice(2) as [string, string, ...string[]]
const spec = JSON.parse(await text(process.stdin)) as RunSpec
const run = await spawnRun(spec, { shim: shim as [string, ...string[]], runDir, onFacts() {} })
process.stdout.write(`${JSON.stringify(run.identity)}\n`)
