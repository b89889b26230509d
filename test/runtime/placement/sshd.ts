import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'

/** A real sshd on loopback, and the configuration of an authorized client. */
export interface Sshd {
  /** The file for `ssh -F`. It knows the hosts `farm` (good), `stranger` (unknown key), `changed` (another key) and `locked` (refused key). */
  configFile: string
  close(): Promise<void>
}

const SSHD = '/usr/sbin/sshd'

export const hasSshd = () => existsSync(SSHD) && process.getuid?.() === 0

export async function startSshd(folder: string): Promise<Sshd> {
  const at = (name: string) => path.join(folder, name)
  // sshd requires its folder for privilege separation.
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const port = await freePort()
  for (const name of ['host', 'user', 'other']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)])
  }
  writeFileSync(at('authorized_keys'), readFileSync(at('user.pub')))
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${readFileSync(at('host.pub'), 'utf8')}`)
  writeFileSync(at('no_hosts'), '')
  writeFileSync(at('changed_hosts'), `[127.0.0.1]:${port} ${readFileSync(at('other.pub'), 'utf8')}`)
  writeFileSync(
    at('sshd_config'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${at('host')}
AuthorizedKeysFile ${at('authorized_keys')}
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
MaxSessions 100
PidFile none
`,
  )
  const host = (name: string, key: string, known: string) => `Host ${name}
  HostName 127.0.0.1
  Port ${port}
  User root
  IdentityFile ${at(key)}
  IdentitiesOnly yes
  UserKnownHostsFile ${at(known)}
  StrictHostKeyChecking yes
`
  const configFile = at('ssh_config')
  writeFileSync(
    configFile,
    host('farm', 'user', 'known_hosts') +
      host('stranger', 'user', 'no_hosts') +
      host('changed', 'user', 'changed_hosts') +
      host('locked', 'other', 'known_hosts'),
  )
  const child = spawn(SSHD, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      log += chunk
      if (log.includes('Server listening')) resolve()
    })
    child.once('exit', () => reject(new Error(log)))
  })
  return {
    configFile,
    async close() {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
