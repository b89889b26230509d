import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PlacementFault } from './driver.ts'
import { exec, lastLine, type Result } from './exec.ts'

/** A shared connection to a host. It uses the OpenSSH client and configuration of the user. */
export interface SshConnection {
  /**
   * Runs a command line in the shell of the host.
   *
   * @throws PlacementFault if the host cannot be reached or rejects the connection
   */
  run(command: string, input?: string | Buffer, timeoutMs?: number): Promise<Result>
  /**
   * Forwards a port of the host's loopback interface to a socket of this machine.
   *
   * @param port the port to use, or 0 for any
   * @returns the port
   */
  forward(port: number, socket: string): Promise<number>
  close(): Promise<void>
}

const CONNECT_TIMEOUT_SEC = 15

export function createSshConnection(options: {
  host: string
  configFile: string | undefined
  /** The path of the control socket. */
  control: string
  env: Record<string, string>
}): SshConnection {
  const { host, configFile, control, env } = options
  const common = [
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...['-o', 'BatchMode=yes', '-o', `ControlPath=${control}`, '-o', `ConnectTimeout=${CONNECT_TIMEOUT_SEC}`],
    // Detects a dead connection within 45 seconds.
    ...['-o', 'ServerAliveInterval=15', '-o', 'ServerAliveCountMax=3'],
  ]
  /** The command with which a person tests the connection. */
  const manual = `ssh ${configFile === undefined ? '' : `-F ${configFile} `}${host}`
  const ssh = (args: readonly string[], input?: string | Buffer, timeoutMs?: number) =>
    exec(['ssh', ...common, ...args], {
      env,
      ...(input !== undefined && { input }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      forks: args.includes('-f'),
    })
  let connecting: Promise<void> | undefined
  /** The port that is forwarded to the socket. */
  let forwarded: number | undefined

  const connect = async () => {
    if ((await ssh(['-O', 'check', host])).code === 0) return
    forwarded = undefined
    // The first connection stays in the background. ssh checks the host key according to the user's configuration.
    const { code, stderr } = await ssh(['-M', '-N', '-f', '-o', 'ControlPersist=yes', host])
    if (code !== 0) throw explain(host, manual, stderr)
  }
  const connected = () => {
    connecting ??= connect().finally(() => {
      connecting = undefined
    })
    return connecting
  }

  return {
    async run(command, input = '', timeoutMs = 60_000) {
      await connected()
      const result = await ssh(['-o', 'ControlMaster=no', host, command], input, timeoutMs)
      // ssh itself failed.
      if (result.code === 255) throw explain(host, manual, result.stderr)
      return result
    },
    async forward(port, socket) {
      await connected()
      if (forwarded !== undefined) return forwarded
      const request = () => ssh(['-O', 'forward', '-R', `127.0.0.1:${port}:${socket}`, host])
      let { code, stdout, stderr } = await request()
      if (code !== 0) {
        // A connection of a killed server may occupy the port. Closing the connection frees it.
        await ssh(['-O', 'exit', host])
        await connected()
        const again = await request()
        code = again.code
        stdout = again.stdout
        stderr = again.stderr
      }
      if (code === 0) {
        forwarded = port === 0 ? Number(stdout.trim()) : port
        return forwarded
      }
      throw new PlacementFault(`${host} does not forward port ${port} to the API (ssh -R): ${lastLine(stderr)}`, true)
    },
    async close() {
      await ssh(['-O', 'exit', host]).catch(() => {})
    },
  }
}

function explain(host: string, manual: string, stderr: string): PlacementFault {
  const why = lastLine(stderr)
    .replace(/^ssh: /, '')
    .replace(/\.$/, '')
  if (/host identification has changed/i.test(stderr)) {
    return new PlacementFault(
      `The host key of ${host} has changed: the host was reinstalled, or another machine answers in its place. If the change is intended, remove the old key as this command says: ${manual}`,
    )
  }
  if (/host key verification failed/i.test(stderr)) {
    return new PlacementFault(`The host key of ${host} is unknown. Connect manually once to verify it: ${manual}`)
  }
  if (/permission denied/i.test(stderr)) {
    return new PlacementFault(
      `${host} refused the key: ${why}. Password prompts are not supported. Test the key with: ${manual.replace(/^ssh/, 'ssh -o BatchMode=yes')}`,
    )
  }
  return new PlacementFault(`${host} cannot be reached: ${why}`, true)
}

/** The maximum length of a folder path for sockets. The limit is 108 bytes, including a name and a random suffix. */
const LONGEST_FOLDER = 60

/**
 * Returns a private folder for sockets: in the data directory, or in the
 * system's temporary folder if that path is too long for a socket.
 */
export function socketFolder(dataDir: string): string {
  const own = path.join(dataDir, 'ssh')
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const folder = own.length <= LONGEST_FOLDER ? own : path.join(tmpdir(), `service-${process.getuid?.() ?? 0}-${hash}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
    throw new PlacementFault(`The folder ${folder} belongs to another user or is not private. Remove it.`)
  }
  return folder
}
