import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { quoted } from './output.ts'
import type { Options, Scope } from './scope.ts'

type Asking = Pick<Options, 'input' | 'yes'>

/** Whether the command can prompt a person for input. */
export const isInteractive = ({ input }: Asking): boolean =>
  input !== false && process.stdin.isTTY === true && process.stdout.isTTY === true

/**
 * Prompts for a confirmation, unless `--yes` is set.
 *
 * @throws CliError if a prompt is not possible
 */
export async function confirm(options: Asking, message: string): Promise<boolean> {
  if (options.yes) return true
  if (!isInteractive(options))
    throw new CliError(EXIT.usage, `${message} A prompt is not possible here: add --yes to confirm.`)
  // Loaded on demand, so that other commands start faster.
  const prompts = await import('@clack/prompts')
  return requireAnswer(prompts, await prompts.confirm({ message, initialValue: false }))
}

/**
 * Prompts for a secret text, which is not displayed.
 *
 * @param how the error message if a prompt is not possible
 */
export async function askSecret(options: Asking, message: string, how: string): Promise<string> {
  if (!isInteractive(options)) throw new CliError(EXIT.usage, how)
  const prompts = await import('@clack/prompts')
  const response = requireAnswer(prompts, await prompts.password({ message }))
  if (response === undefined || response === '') throw new CliError(EXIT.failure, 'Nothing was changed.')
  return response
}

/**
 * Returns the answer to a prompt.
 *
 * @throws CliError if the person pressed Ctrl-C
 */
export function requireAnswer<Value>(
  { isCancel }: Pick<typeof import('@clack/prompts'), 'isCancel'>,
  answer: Value,
): Exclude<Value, symbol> {
  if (isCancel(answer)) throw new CliError(EXIT.interrupted, 'Interrupted. Nothing was changed.')
  return answer as Exclude<Value, symbol>
}

/**
 * Opens a text in the user's editor and returns the edited text.
 *
 * @throws CliError with `--no-input`, or if the editor fails
 */
export async function editText({ options }: Pick<Scope, 'options'>, before: string): Promise<string> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi'
  // An editor may open its own window and then needs no terminal, so only --no-input forbids it.
  if (options.input === false) throw new CliError(EXIT.usage, '--editor and --no-input exclude each other.')
  const folder = mkdtempSync(path.join(tmpdir(), 'service-'))
  try {
    const file = path.join(folder, 'text.md')
    writeFileSync(file, before, { mode: 0o600 })
    // A shell, since EDITOR may have arguments, such as `code --wait`.
    const { status } = spawnSync(`${editor} ${quoted(file)}`, { shell: true, stdio: 'inherit' })
    if (status !== 0) throw new CliError(EXIT.failure, `The editor ${editor} failed. Nothing was changed.`)
    return readFileSync(file, 'utf8').trimEnd()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
