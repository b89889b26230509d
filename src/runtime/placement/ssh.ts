import path from 'node:path'
import { type PlacementRow, updatePlacement } from '../../organization/placement/queries.ts'
import type { SshSettings } from '../../organization/placement/settings.ts'
import type { Context } from '../../platform/context.ts'
import type { ProcessIdentity } from '../process/process-table.ts'
import type { ProbeResult } from '../remote/probe.ts'
import type { ShimStatus } from '../remote/wire.ts'
import { checksOf } from './checks.ts'
import { type Check, DEFAULT_WORKDIR, type Driver, explainExit, PlacementFault } from './driver.ts'
import { lastLine, quote } from './exec.ts'
import { readRemoteProgram } from './remote-program.ts'
import { createSshConnection, type SshConnection, socketFolder } from './ssh-connection.ts'

/** Creates a driver that starts runs on a host over ssh. Each run is a separate process that outlives the connection. */
export function createSshDriver(ctx: Context, row: PlacementRow, settings: SshSettings): Driver {
  const { host, workdir = DEFAULT_WORKDIR, node = 'node', publicUrl } = settings
  const connection = createSshConnection({
    host,
    configFile: settings.sshConfig,
    control: path.join(socketFolder(ctx.config.dataDir), `${row.name}.ctl`),
    env: ctx.config.environment,
  })
  const remote = createRemote(connection, { host, workdir, node })
  let port = row.tunnel_port

  async function apiUrl(): Promise<string> {
    if (publicUrl !== undefined) return publicUrl
    if (!ctx.openRunSocket) throw new PlacementFault('This server has no socket for runs. Set publicUrl.')
    // Uses the same port as before, because the current runs connect to it.
    const found = await connection.forward(port ?? 0, await ctx.openRunSocket())
    if (found !== port) {
      port = found
      await ctx.write(() => void updatePlacement(ctx.db, row.name, { tunnel_port: found }))
    }
    return `http://127.0.0.1:${found}`
  }

  return {
    pollMs: 3_000,
    apiUrl,
    async submit(job) {
      const { runId, token, url } = job
      const reply = await remote<ProcessIdentity | { error: string } | null>(
        'start',
        { runId, token, url, workdir },
        runId,
      )
      if (reply === null) throw new PlacementFault(`The run on ${host} exited immediately.`)
      if ('error' in reply) throw new PlacementFault(`${host} did not start the run: ${reply.error}`)
      return JSON.stringify(reply)
    },
    async find(runId) {
      const identity = await remote<ProcessIdentity | null>('find', {}, runId)
      return identity === null ? undefined : JSON.stringify(identity)
    },
    async status(jobs) {
      if (publicUrl === undefined) await apiUrl()
      const shims = jobs.map(({ runId, jobId }) => ({ runId, identity: JSON.parse(jobId) }))
      const found = await remote<ShimStatus[]>('status', { workdir, jobs: shims })
      return new Map(
        found.map(({ runId, isLive, exitCode }) => [
          runId,
          isLive
            ? { state: 'running', node: null }
            : {
                state: 'ended',
                cause:
                  (exitCode === null ? null : explainExit(exitCode)) ??
                  `its process on ${host} is gone: killed, or the host was restarted.`,
              },
        ]),
      )
    },
    async stop({ runId, jobId }, graceSec) {
      await remote('stop', { workdir, identity: JSON.parse(jobId), graceSec }, runId)
    },
    async cleanUp({ runId }) {
      await remote('clean', { workdir }, runId)
    },
    async test() {
      const checks: Check[] = []
      await connection.run('true')
      checks.push({ name: 'connection', ok: true, message: `${host} accepts the key.` })
      const url = await apiUrl()
      checks.push(...checksOf(ctx, await remote<ProbeResult>('probe', { workdir, url }), url))
      return checks
    },
    async resume() {
      if (publicUrl === undefined) await apiUrl()
    },
    close: () => connection.close(),
  }
}

/** Runs a command of the remote program on a host. It installs the program before the first command. */
function createRemote(connection: SshConnection, at: { host: string; workdir: string; node: string }) {
  const { host, workdir, node } = at
  let installing: Promise<string> | undefined

  async function install(): Promise<string> {
    const { source, name } = await readRemoteProgram()
    const file = `${workdir}/${name}`
    const there = await connection.run(`test -s ${quote(file)}`)
    if (there.code === 0) return file
    const script = `umask 077 && mkdir -p ${quote(workdir)} && cat > ${quote(`${file}.tmp`)} && mv ${quote(`${file}.tmp`)} ${quote(file)}`
    const { code, stderr } = await connection.run(`sh -c ${quote(script)}`, source)
    if (code !== 0) {
      const why = /no space left|quota exceeded/i.test(stderr)
        ? 'its disk is full, or its quota is used up'
        : lastLine(stderr)
      throw new PlacementFault(`Cannot write to ${workdir} on ${host}: ${why}.`)
    }
    return file
  }

  return async function remote<Reply>(verb: string, input: unknown, runId = ''): Promise<Reply> {
    installing ??= install()
    let file: string
    try {
      file = await installing
    } catch (error) {
      installing = undefined
      throw error
    }
    const { code, stdout, stderr } = await connection.run(
      `${quote(node)} ${quote(file)} ${verb} ${runId}`,
      JSON.stringify(input),
    )
    if (code === 0) return JSON.parse(stdout)
    // The file may have been removed, so it is installed again.
    installing = undefined
    const known = explainExit(code) ?? (/SyntaxError|Unexpected/.test(stderr) ? explainExit(78) : null)
    throw new PlacementFault(known ?? `The program on ${host} failed (exit code ${code}): ${lastLine(stderr)}`)
  }
}
