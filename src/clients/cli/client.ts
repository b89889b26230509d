import { AppError, ERROR_STATUS, type ErrorCode } from '../../platform/errors.ts'
import { CliError, EXIT, exitCodeOfAnswer } from './exit-codes.ts'
import { type Question, type RawAnswer, request } from './request.ts'

/** An answer with its body read: parsed where it is JSON, else as text. */
export interface Answer extends RawAnswer {
  body: unknown
}

export interface Client {
  url: string
  /** What it sends as a bearer token. */
  token: string | undefined
  /**
   * Asks and reads the answer's body.
   *
   * @throws AppError as the server answered it
   * @throws CliError when no server answers
   */
  // biome-ignore lint/suspicious/noExplicitAny: the server's own schema has checked it, and each command reads a few fields.
  request(method: string, path: string, body?: unknown): Promise<any>
  /** Asks and gives whatever the answer is. */
  ask(question: Question): Promise<Answer>
}

/** A client of the HTTP API at a base URL. */
export function createClient({ url, token }: { url: string; token?: string | undefined }): Client {
  const ask = async (question: Question): Promise<Answer> => {
    try {
      return readAnswer(await request(url, { token, ...question }))
    } catch (error) {
      throw unreachable(url, error)
    }
  }
  return {
    url,
    token,
    ask,
    async request(method, path, body) {
      const answer = await ask({ method, path, body })
      if (answer.status >= 400) throw errorOf(answer, { url })
      return answer.body
    },
  }
}

function readAnswer(raw: RawAnswer): Answer {
  const isJson = raw.headers['content-type']?.startsWith('application/json') && raw.text !== ''
  return { ...raw, body: isJson ? JSON.parse(raw.text) : raw.text }
}

function unreachable(url: string, error: unknown): CliError {
  const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
  return new CliError(
    EXIT.unreachable,
    `No server answers at ${url} (${why}). Start one with \`service start\`, or name another with --url.`,
  )
}

/**
 * Turns an answer that is an error back into the error that the server threw.
 * Where a server wants a credential, and says in which mode it is, the error
 * says how the command line gets one.
 */
export function errorOf({ status, body }: Answer, { url }: Pick<Client, 'url'>): AppError | CliError {
  const { error, code, details } = (body ?? {}) as { error?: string; code?: string; details?: unknown }
  const { mode } = (details ?? {}) as { mode?: string }
  if (code === 'unauthenticated' && mode !== undefined) return new CliError(EXIT.notAllowed, wantsToken(url, mode))
  const message = error ?? `The server answered ${status}.`
  if (code !== undefined && code in ERROR_STATUS) return new AppError(code as ErrorCode, message, details)
  return new CliError(exitCodeOfAnswer(code ?? '', status), message)
}

/** What to do where a server asks who it is. */
const wantsToken = (url: string, mode: string) =>
  `The server at ${url} asks who you are. ${
    mode === 'local_trusted'
      ? "It was started with --require-token: run the command as its user, with the server's --data-dir."
      : `Sign in at ${url}/account, make a token there and put it into SERVICE_API_KEY.`
  }`
