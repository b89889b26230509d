import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { placeSkills } from '../../organization/agent-skill/sync.ts'
import { findRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import { type PreparedRun, planRun, requireNoProblems } from '../executor/prepare.ts'
import { recordRunning } from '../executor/record-running.ts'
import { REMOTE_INSTRUCTIONS, REMOTE_SKILLS, type RemotePlace } from '../executor/remote-place.ts'
import { NotStartable } from '../not-startable.ts'
import { runFolder } from '../process/run-files.ts'
import { RUN_FOLDER, RUN_TOKEN, type RunBundle } from '../remote/wire.ts'
import { writeClaim } from './claim-file.ts'

export const ClaimBody = v.strictObject({
  instance: v.pipe(
    field.id,
    v.description('The id of the process that claims the run. The process chooses it.'),
    v.examples(['0199e0a4-5c1e-4c6f-9d5e-0b7c4f5d2a10']),
  ),
  node: v.pipe(v.string(), v.maxLength(253), v.description('The name of its machine.')),
  clock: v.pipe(field.sentTimestamp, v.description('The current time on the machine.')),
})
export type ClaimBody = v.InferOutput<typeof ClaimBody>

export const BundleResponse = v.strictObject({
  spec: v.pipe(field.jsonObject, v.description('The command, its environment and its limits.')),
  files: v.pipe(
    v.array(
      v.strictObject({ path: v.string(), content: v.pipe(v.string(), v.description('The content, in base64.')) }),
    ),
    v.description('The skills and instructions. Paths are relative to the folder of the run.'),
  ),
  clone: v.pipe(
    v.nullable(v.strictObject({ url: v.string(), ref: v.nullable(v.string()) })),
    v.description('The repository to clone into the working directory.'),
  ),
})

/**
 * Prepares a run that executes on another machine. The server calls it when it
 * submits the run, to detect problems, and again when the machine claims the
 * run. The server stores no secrets in between.
 *
 * @throws NotStartable if the run cannot start
 */
export async function prepareRemote(ctx: Context, run: RunRow): Promise<PreparedRun> {
  const own = {
    token: RUN_TOKEN,
    newSessionId: randomUUID(),
    examinesProgram: false,
    readsInstructions: true,
    place: placeOfRun(run),
    skills: () => placeSkills(ctx, run.agent_id, run.id),
  }
  return requireNoProblems(await planRun(ctx, run, own, LOCAL_ONLY))
}

export const placeOfRun = (run: RunRow): RemotePlace => ({ name: run.placement! })

/** The dependencies that only local runs need. The remote shim sets the URL of the API itself. */
const LOCAL_ONLY = {
  apiUrl: '',
  postProgram: [''],
  probe: unused,
  isolation: { pidNamespace: unused, bubblewrap: unused },
} as const

function unused(): never {
  throw new Error('A run in a placement must not probe the machine of the server.')
}

/**
 * Assigns a run to the first process on another machine that claims it, and
 * returns the bundle of the run. The same process may repeat the request if it
 * lost the response.
 */
export async function claimBundle(ctx: Context, runId: string, claim: ClaimBody): Promise<RunBundle> {
  const run = findRun(ctx.db, { id: runId })
  if (!run?.placement) throw notFound('run', runId)
  if (run.stop_reason) throw new AppError('conflict', 'This run is being stopped. Do not start it.')
  const { spec, brings } = await prepare(ctx, run)
  if (!writeClaim(runFolder(ctx.config, runId), { instance: claim.instance, node: claim.node })) {
    throw new AppError('conflict', 'Another process has claimed this run. Do not start it.')
  }
  await ctx.write(() => {
    if (findRun(ctx.db, { id: runId })?.status === 'starting') {
      recordRunning(ctx, runId, { job_node: claim.node, job_waiting: null })
    }
  })
  ctx.signals.runReported(runId)
  return {
    spec,
    files: [
      ...filesBelow(brings.skillsDir, path.relative(RUN_FOLDER, REMOTE_SKILLS)),
      ...(brings.instructionsFile === null
        ? []
        : [{ path: path.relative(RUN_FOLDER, REMOTE_INSTRUCTIONS), content: readBase64(brings.instructionsFile) }]),
    ],
    clone: brings.clone,
  }
}

async function prepare(ctx: Context, run: RunRow): Promise<PreparedRun> {
  try {
    return await prepareRemote(ctx, run)
  } catch (error) {
    // The configuration changed while the job was queued.
    if (error instanceof NotStartable) throw new AppError('semantic', error.message)
    throw error
  }
}

const readBase64 = (file: string) => readFileSync(file).toString('base64')

function filesBelow(folder: string, to: string): RunBundle['files'] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name)
      return { path: path.join(to, path.relative(folder, file)), content: readBase64(file) }
    })
}
