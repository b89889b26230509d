import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A real Slurm cluster on this machine: one controller and two nodes. */
export interface Cluster {
  /** The environment in which Slurm's commands find it. */
  env: Record<string, string>
  /** Kills the daemon of a node and all processes of its jobs, as a power failure does. */
  killNode(name: 'n1' | 'n2'): void
  close(): Promise<void>
}

/** The folder of the daemons. The PATH of a user often lacks it. */
const SBIN = '/usr/sbin'

export const hasSlurm = () => existsSync(path.join(SBIN, 'slurmctld')) && process.getuid?.() === 0

/** @param cpus of each node */
export async function startCluster(folder: string, cpus: number): Promise<Cluster> {
  const at = (...names: string[]) => path.join(folder, ...names)
  const [controller, ...nodePorts] = await freePorts(3)
  const nodes = ['n1', 'n2'] as const
  for (const name of ['state', 'n1', 'n2', 'munge']) mkdirSync(at(name), { recursive: true, mode: 0o755 })
  writeFileSync(at('munge', 'key'), randomBytes(1024), { mode: 0o600 })
  const conf = at('slurm.conf')
  writeFileSync(
    conf,
    `ClusterName=test
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${controller}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=${at('munge', 'socket')}
CryptoType=crypto/munge
StateSaveLocation=${at('state')}
SlurmdSpoolDir=${at('%n')}
SlurmctldPidFile=${at('slurmctld.pid')}
SlurmdPidFile=${at('%n.pid')}
SlurmctldLogFile=${at('slurmctld.log')}
SlurmdLogFile=${at('%n.log')}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=3
MinJobAge=300
${nodes.map((name, i) => `NodeName=${name} NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${nodePorts[i]} CPUs=${cpus} State=UNKNOWN`).join('\n')}
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`,
  )
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/root', SLURM_CONF: conf }
  const daemons = new Map<string, ChildProcess>()
  const start = (name: string, program: string, args: string[]) => {
    daemons.set(name, spawn(path.join(SBIN, program), args, { env, stdio: 'ignore' }))
  }
  start('munged', 'munged', [
    ...['--foreground', '--force', `--key-file=${at('munge', 'key')}`, `--socket=${at('munge', 'socket')}`],
    ...[`--pid-file=${at('munge', 'pid')}`, `--log-file=${at('munge', 'log')}`, `--seed-file=${at('munge', 'seed')}`],
  ])
  for (let tries = 0; !existsSync(at('munge', 'socket')) && tries < 100; tries++) await delay(100)
  start('slurmctld', 'slurmctld', ['-D', '-i'])
  for (const name of nodes) start(name, 'slurmd', ['-D', '-N', name])
  const states = () => execFileSync('sinfo', ['--noheader', '--Node', '--format=%N %T'], { env, encoding: 'utf8' })
  for (let tries = 0; ; tries++) {
    let text = ''
    try {
      text = states()
    } catch {
      // The controller has not started yet.
    }
    if ((text.match(/idle$/gm) ?? []).length === 2) break
    const [ended] = [...daemons].find(([, { exitCode, signalCode }]) => exitCode !== null || signalCode !== null) ?? []
    if (ended !== undefined || tries > 120) {
      const log = existsSync(at('slurmctld.log')) ? readFileSync(at('slurmctld.log'), 'utf8') : ''
      throw new Error(`${ended === undefined ? 'The nodes are not idle.' : `${ended} has ended.`}\n${text}\n${log}`)
    }
    await delay(250)
  }
  return {
    env,
    killNode(name) {
      daemons.get(name)!.kill('SIGKILL')
      killProcesses(name)
    },
    async close() {
      for (const name of nodes) killProcesses(name)
      for (const daemon of daemons.values()) {
        if (daemon.exitCode !== null || daemon.signalCode !== null) continue
        const exited = once(daemon, 'exit')
        daemon.kill('SIGKILL')
        await exited
      }
    },
  }
}

/** Kills the processes of all jobs of a node, also those that one of them starts meanwhile. */
function killProcesses(node: string): void {
  for (let found = processesOf(node); found.length > 0; found = processesOf(node)) {
    for (const pid of [...found.map(parentOf), ...found]) kill(pid)
  }
}

/** Returns the pids of the processes of all jobs of a node. */
const processesOf = (node: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1')
      // Programs of runs receive only the second variable.
      const isOfNode = environment
        .split('\0')
        .some((one) => one === `SLURMD_NODENAME=${node}` || one === `SLURM_JOB_NODELIST=${node}`)
      return isOfNode ? [Number(name)] : []
    } catch {
      return []
    }
  })

function parentOf(pid: number): number {
  try {
    const parent = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    return readFileSync(`/proc/${parent}/comm`, 'utf8').startsWith('slurmstepd') ? parent : 0
  } catch {
    return 0
  }
}

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
