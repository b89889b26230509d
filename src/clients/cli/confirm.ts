import { CliError, EXIT } from '../connection/exit-codes.ts'

/** Asks a person. Where nobody can answer, it says how to go on without. */
export async function confirm(message: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError(EXIT.usage, `${message} Nobody can be asked here: add --yes to go on, or --preview to look.`)
  }
  // Loaded only where it asks: every other command starts without it.
  const prompts = await import('@clack/prompts')
  return (await prompts.confirm({ message, initialValue: false })) === true
}
