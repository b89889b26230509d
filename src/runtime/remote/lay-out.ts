import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { RunSpec } from '../process/run-files.ts'
import { RUN_FOLDER, RUN_TOKEN, type RunBundle, WORK_FOLDER } from './wire.ts'

/** The reason why a run cannot start on this machine. */
export class LayOutError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export const absoluteWorkdir = (workdir: string) => path.resolve(homedir(), workdir)

/** Matches the environment variables of this machine that the command receives: login, language and network. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|XDG_\w+|SSH_AUTH_SOCK|HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|SLURM_\w+|CUDA_\w+|NVIDIA_\w+|ROCR_\w+)$/

const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && PASSED_ON.test(entry[0]),
    ),
  )

/**
 * Writes the files of a bundle, clones its repository, and returns the spec
 * for this machine.
 *
 * @throws LayOutError if the run cannot start here
 */
export async function layOut(
  bundle: RunBundle,
  { runDir, workdir, url, token }: { runDir: string; workdir: string; url: string; token: string },
) {
  const inPlace = <Value>(value: Value): Value =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(RUN_TOKEN, token)
        .replaceAll(RUN_FOLDER, JSON.stringify(runDir).slice(1, -1))
        .replaceAll(WORK_FOLDER, JSON.stringify(workdir).slice(1, -1)),
    )
  const { spec, clone } = inPlace({ spec: bundle.spec, clone: bundle.clone })
  for (const { path: name, content } of bundle.files) {
    const file = path.join(runDir, name)
    if (!file.startsWith(`${runDir}${path.sep}`))
      throw new LayOutError('invalid_bundle', `${name} is not a valid path in the folder of a run.`)
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, Buffer.from(content, 'base64'), { mode: 0o600 })
  }
  const env = { ...ownEnvironment(), ...spec.env, SERVICE_API_URL: url }
  const placed: RunSpec = { ...spec, env }
  if (clone && !existsSync(spec.cwd)) await cloneRepository(clone, spec.cwd, env)
  // Creates the default folder of an agent, as on the server. A folder that the board configured must exist.
  else if (spec.cwd.startsWith(`${workdir}${path.sep}`)) mkdirSync(spec.cwd, { recursive: true, mode: 0o700 })
  return placed
}

const CLONE_TIMEOUT_MS = 30 * 60_000

async function cloneRepository(
  { url, ref }: { url: string; ref: string | null },
  folder: string,
  env: Record<string, string>,
): Promise<void> {
  const git = (args: string[]) =>
    promisify(execFile)('git', args, {
      env: { ...env, GIT_TERMINAL_PROMPT: '0' },
      timeout: CLONE_TIMEOUT_MS,
      maxBuffer: 16 * 1024 * 1024,
    })
  const temporary = `${folder}.${process.pid}`
  mkdirSync(path.dirname(folder), { recursive: true, mode: 0o700 })
  try {
    await git(['clone', '--quiet', '--', url, temporary])
    if (ref) await git(['-C', temporary, 'checkout', '--quiet', ref, '--'])
    // If two runs clone at the same time, the first clone is used.
    await promisify(execFile)('mv', ['-T', temporary, folder]).catch((error) => {
      if (!existsSync(folder)) throw error
    })
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: string }
    if (code === 'ENOENT') throw new LayOutError('git_missing', 'The program git was not found on this machine.')
    const why = stderr?.trim().split('\n').at(-1) ?? String(error)
    throw new LayOutError('clone_failed', `The repository ${withoutCredentials(url)} could not be cloned: ${why}`)
  } finally {
    await promisify(execFile)('rm', ['-rf', temporary])
  }
}

const withoutCredentials = (url: string) => url.replace(/\/\/[^/@]*@/, '//')
