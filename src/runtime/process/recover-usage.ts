/**
 * The program that recovers the usage of a lost run. It adds what the agent's
 * program recorded itself, until its end, to the facts of the run. Its argument
 * is the run's folder.
 *
 * It is a program of its own because it reads files that the run could write:
 * they may be too large for the server to wait for them.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { recoverUsage } from '../../adapter/recover-usage.ts'
import { parseFact } from './fact-log.ts'
import { factsFile } from './run-files.ts'

const file = factsFile(process.argv[2]!)
const facts = recoverUsage(readFileSync(file, 'utf8').split('\n').flatMap(parseFact))
// The newline comes first because the dying shim may have left an incomplete line.
if (facts.length > 0) appendFileSync(file, `\n${facts.map((fact) => JSON.stringify(fact)).join('\n')}\n`)
