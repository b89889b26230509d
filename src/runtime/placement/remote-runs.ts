import { setTimeout as delay } from 'node:timers/promises'
import { findPlacement } from '../../organization/placement/queries.ts'
import { findRun, updateRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { placedCwd } from '../executor/prepare.ts'
import { recordIntent } from '../executor/record-intent.ts'
import type { RemoteDependencies, RemoteRuns } from '../executor/remote-runs.ts'
import { NotStartable } from '../not-startable.ts'
import { type Follow, followRun, type RunProcess } from '../process/follow.ts'
import { type ExitRecord, writeStop } from '../process/run-files.ts'
import { prepareRemote } from './bundle.ts'
import { readClaim } from './claim-file.ts'
import { DEFAULT_WORKDIR, type JobRef, type JobStatus, PlacementFault } from './driver.ts'
import { createFollowed, type Followed, isOver, markGone, untilOver, writeLostExit } from './followed-run.ts'
import { createPlaces, type Place } from './places.ts'

/** The lifetime of a run token. It exceeds every queue time, and the token expires with the run. */
const TOKEN_LIFETIME = '60d'

/** The time after the grace period in which a machine can report the end, in ms. Then the engine stops the job. */
const STOP_SLACK_MS = 2_500
/** The time that an engine has to stop a job before the run ends without it, in milliseconds. */
const ENGINE_MS = 1_000
/** The time after the engine stopped the job, in milliseconds. Then the run ends without a report. */
const REPORT_MS = 1_000

export function createRemoteRuns(ctx: Context, dependencies: RemoteDependencies): RemoteRuns {
  const { persist } = dependencies
  const places = createPlaces(ctx)
  let isClosed = false

  const removeHandler = ctx.signals.handle({
    runReported: (runId) => void noteReport(runId),
    placementChanged: (name) => void closePlace(name),
  })

  async function noteReport(runId: string): Promise<void> {
    const found = await places.findOfRun(runId)
    if (!found) return
    found.followed.lastSeen = performance.now()
    found.followed.begun.resolve()
  }

  /** Closes a removed placement. The runs in it are lost. */
  async function closePlace(name: string): Promise<void> {
    const place = await places.remove(name)
    if (!place) return
    for (const followed of place.runs.values()) {
      markGone(followed, `The placement ${name} was removed while the run was in it.`)
    }
    await delay(REPORT_MS, undefined, { ref: false })
    await place.driver.close()
  }

  function track(place: Place, run: RunRow, jobId: string | undefined): Followed {
    const followed = createFollowed(ctx.config, run, jobId)
    place.runs.set(run.id, followed)
    return followed
  }

  function follow(place: Place, followed: Followed, onFacts: Follow['onFacts']): RunProcess {
    const process = followFiles(followed, onFacts, () => endLostRun(place, followed))
    schedule(place, 0)
    const untrack = () => {
      place.runs.delete(followed.run.id)
      if (place.runs.size === 0 && !isClosed) clearTimeout(place.timer)
    }
    return {
      ...process,
      ended: process.ended.then((record) => withNodeName(followed, record)).finally(untrack),
      begun: followed.begun.promise,
      stop: (graceSec) => stop(place, followed, graceSec),
    }
  }

  function endLostRun(place: Place, followed: Followed): ExitRecord {
    const { run, jobId } = followed
    if (jobId) {
      // The run may still be active if the network failed. Its token is no longer valid.
      void place.driver.cleanUp({ runId: run.id, jobId }).catch((error) => {
        ctx.log.warn('The remaining processes and files of a lost run could not be removed from its placement.', {
          runId: run.id,
          error: String(error),
        })
      })
    }
    return writeLostExit(followed, ctx.now)
  }

  async function stop(place: Place, followed: Followed, graceSec: number): Promise<void> {
    const { runDir } = followed
    writeStop(runDir, { graceSec })
    // The remote shim receives the stop request in the reply to its next report, within two seconds.
    if (readClaim(runDir))
      await Promise.race([untilOver(followed), delay(graceSec * 1_000 + STOP_SLACK_MS, undefined, { ref: false })])
    if (isOver(followed)) return
    // The run ends even if its engine takes longer: without a valid token, a queued job exits when it starts.
    await Promise.race([stopJob(place, followed, graceSec), delay(ENGINE_MS, undefined, { ref: false })])
    await Promise.race([untilOver(followed), delay(readClaim(runDir) ? REPORT_MS : 0, undefined, { ref: false })])
    markGone(followed, null)
  }

  async function stopJob(place: Place, { run, jobId }: Followed, graceSec: number): Promise<void> {
    if (!jobId) return
    try {
      await place.driver.stop({ runId: run.id, jobId }, graceSec)
    } catch (error) {
      ctx.log.warn('A run could not be stopped in its placement. Its token is no longer valid.', {
        runId: run.id,
        error: String(error),
      })
    }
  }

  function schedule(place: Place, ms = place.driver.pollMs): void {
    clearTimeout(place.timer)
    if (isClosed || place.runs.size === 0) return
    place.timer = setTimeout(() => void poll(place), ms)
    place.timer.unref()
  }

  async function poll(place: Place): Promise<void> {
    if (place.isPolling || isClosed) return
    place.isPolling = true
    const polled = [...place.runs.values()].filter((one) => one.jobId !== undefined && !one.isGone)
    const startedAt = performance.now()
    try {
      if (polled.length === 0) return
      const refs: JobRef[] = polled.map((one) => ({ runId: one.run.id, jobId: one.jobId! }))
      const found = await place.driver.status(refs)
      for (const followed of polled) await apply(place, followed, found.get(followed.run.id))
    } catch (error) {
      noteUnreachable(place, polled, error)
    } finally {
      place.isPolling = false
      // A slow engine is polled less often.
      schedule(place, Math.max(place.driver.pollMs, 10 * (performance.now() - startedAt)))
    }
  }

  async function apply(place: Place, followed: Followed, status: JobStatus | undefined): Promise<void> {
    if (!status || status.state === 'ended') {
      return markGone(followed, status?.cause ? withPlacement(place, status.cause) : null)
    }
    followed.lastSeen = performance.now()
    const text = JSON.stringify(status)
    if (text === followed.lastStatus) return
    followed.lastStatus = text
    const { id } = followed.run
    const change =
      status.state === 'queued'
        ? { job_waiting: status.because }
        : { job_waiting: null, ...(status.node !== null && { job_node: status.node }) }
    await ctx.write(() => {
      const run = findRun(ctx.db, { id })
      if (run && run.finished_at === null) updateRun(ctx.db, id, change)
    })
  }

  function noteUnreachable(place: Place, polled: readonly Followed[], error: unknown): void {
    if (!(error instanceof PlacementFault))
      ctx.log.error('The status of a placement could not be read.', { error: stackOf(error) })
    for (const followed of polled) {
      if (performance.now() - followed.lastSeen < place.lostAfterMs) continue
      const minutes = Math.round(place.lostAfterMs / 60_000)
      const why = error instanceof Error ? error.message : String(error)
      markGone(followed, `The run did not report for ${minutes} minutes, and its placement cannot be reached: ${why}`)
    }
  }

  return {
    async launch(run, onFacts) {
      const token = await dependencies.tokens.sign({
        id: run.id,
        agentId: run.agent_id,
        companyId: run.company_id,
        lifetime: TOKEN_LIFETIME,
      })
      const place = await openPlaceForRun(run)
      const prepared = await prepareRemote(ctx, run)
      const spec = { ...prepared.spec, cwd: placedCwd({ name: place.name }, prepared.spec.cwd) }
      await persist(() => recordIntent(ctx, run.id, { ...prepared, spec }, null))
      const followed = track(place, run, undefined)
      try {
        const url = await place.driver.apiUrl()
        if (findRun(ctx.db, { id: run.id })?.stop_reason) throw new NotStartable('cancelled', 'Cancelled.')
        const { timeoutSec } = prepared.spec
        const { workdir } = settingsOf(place.name)
        followed.jobId = await place.submission(() =>
          place.driver.submit({ runId: run.id, token, url, workdir, timeoutSec }),
        )
      } catch (error) {
        place.runs.delete(run.id)
        throw error instanceof PlacementFault ? unavailable(withPlacement(place, error.message)) : error
      }
      await persist(() => void updateRun(ctx.db, run.id, { job_id: followed.jobId! }))
      return follow(place, followed, onFacts)
    },
    async adopt(run, onFacts) {
      let place: Place
      try {
        place = await places.open(run.placement!)
      } catch (error) {
        return followWithoutPlace(run, onFacts, error)
      }
      const followed = track(place, run, run.job_id ?? undefined)
      const process = follow(place, followed, onFacts)
      void resume(place, followed)
      return process
    },
    async close() {
      isClosed = true
      removeHandler()
      await places.close()
    },
  }

  /**
   * Follows a run of a previous server whose placement cannot be opened, for
   * example because it was removed. The run has its exit record, or is lost.
   */
  function followWithoutPlace(run: RunRow, onFacts: Follow['onFacts'], error: unknown): RunProcess {
    const followed = createFollowed(ctx.config, run, run.job_id ?? undefined)
    const why = error instanceof Error ? error.message : String(error)
    markGone(followed, `The run could not be continued after the restart of the server: ${why}`)
    const process = followFiles(followed, onFacts, () => writeLostExit(followed, ctx.now))
    return { ...process, stop: async () => {} }
  }

  async function openPlaceForRun(run: RunRow): Promise<Place> {
    try {
      return await places.open(run.placement!)
    } catch (error) {
      throw error instanceof PlacementFault ? unavailable(error.message) : error
    }
  }

  /** Finds the job of a run of a previous server, and restores the connection for its reports. */
  async function resume(place: Place, followed: Followed): Promise<void> {
    const { id } = followed.run
    for (let waitMs = 1_000; !isClosed && !followed.isGone; waitMs = Math.min(waitMs * 2, 30_000)) {
      try {
        await place.driver.resume?.()
        if (followed.jobId !== undefined) return
        const jobId = await place.driver.find(id)
        if (jobId === undefined) return markGone(followed, null)
        followed.jobId = jobId
        await persist(() => void updateRun(ctx.db, id, { job_id: jobId }))
        return schedule(place, 0)
      } catch (error) {
        noteUnreachable(place, [followed], error)
        await delay(waitMs, undefined, { ref: false })
      }
    }
  }

  function settingsOf(name: string): { workdir: string } {
    const { workdir } = JSON.parse(findPlacement(ctx.db, { name })?.settings ?? '{}') as { workdir?: string }
    return { workdir: workdir ?? DEFAULT_WORKDIR }
  }
}

/** Follows the files of a run until its exit record is there or its job is gone. */
function followFiles(followed: Followed, onFacts: Follow['onFacts'], endLostRun: () => ExitRecord): RunProcess {
  return followRun(
    { runId: followed.run.id, runDir: followed.runDir, identity: null },
    {
      onFacts,
      shimWatch: {
        isGone: () => followed.isGone,
        exited: followed.gone.promise,
        // The remote shim exits by itself, and the engine removes the job.
        untilExited: async () => {},
        endLostRun: async () => endLostRun(),
      },
    },
  )
}

const stackOf = (error: unknown) => String((error as Error)?.stack ?? error)

/** Creates the error for a fault of a placement. The server delays the agent and retries the run. */
const unavailable = (message: string) => new NotStartable('placement_unavailable', message)

const withPlacement = ({ name }: { name: string }, message: string) => `Placement ${name}: ${message}`

/** Adds the name of the machine to the error of a command that could not be started. */
function withNodeName({ runDir }: Followed, record: ExitRecord): ExitRecord {
  const { error } = record
  const node = readClaim(runDir)?.node
  if (record.reason !== 'spawn_failed' || !error || !node) return record
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT'
  const message = error.message.includes(node) ? error.message : `${error.message.replace(/\.$/, '')}, on ${node}.`
  return {
    ...record,
    error: isFull
      ? { code: 'placement_unavailable', message: `The disk of ${node} is full, or its quota is used up.` }
      : { code: error.code, message },
  }
}
