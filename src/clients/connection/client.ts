import type { AppError } from '../../platform/errors.ts'
import { type Client as ApiClient, createClient as createApiClient } from '../client/client.ts'
import { errorFrom, type UnexpectedResponse } from '../client/error.ts'
import { type HttpResponse, nodeFetch, sendHttp } from '../client/node-http.ts'
import { CliError, EXIT, exitCodeOfResponse } from './exit-codes.ts'

/** A response with its body read: parsed if it is JSON, otherwise text. */
export interface RawResponse extends HttpResponse {
  body: unknown
}

/** A request that no type describes. */
export interface RawRequest {
  method: string
  /** With its query. */
  path: string
  /** Sent as JSON. */
  body?: unknown
}

/** The typed client of the API, for the command line. It throws CliError where the exit code needs it. */
export interface Client extends ApiClient {
  /** The bearer token that the client sends. */
  readonly token: string | undefined
  /**
   * Sends any request and returns any response, errors included.
   *
   * @throws CliError if no server responds
   */
  send(request: RawRequest): Promise<RawResponse>
}

/**
 * Creates a client of the HTTP API at a base URL.
 *
 * @param options.check runs once, before the first request; if it throws, no request is sent
 */
export function createClient({
  url,
  token,
  check = async () => {},
}: {
  url: string
  token?: string | undefined
  check?: () => Promise<void>
}): Client {
  let checked: Promise<void> | undefined
  const ready = () => {
    checked ??= check()
    return checked
  }
  const fetch: typeof nodeFetch = async (target, request) => {
    await ready()
    return nodeFetch(target, request).catch(throwUnreachable(url))
  }
  return {
    ...createApiClient({ url, credential: token, fetch, toError: (error) => toCliError(error, url) }),
    token,
    async send({ method, path, body }) {
      await ready()
      const response = await sendHttp(new URL(path, url).href, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).catch(throwUnreachable(url))
      const isJson = response.headers['content-type']?.startsWith('application/json') && response.text !== ''
      return { ...response, body: isJson ? JSON.parse(response.text) : response.text }
    },
  }
}

const throwUnreachable = (url: string) => (error: unknown) => {
  const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
  throw new CliError(
    EXIT.unreachable,
    `No server responds at ${url} (${why}). Start one with \`service start\`, or name another with --url.`,
  )
}

/** Converts an error response into the error that the server threw, or into a CliError. */
export const errorOf = ({ status, body }: Pick<RawResponse, 'status' | 'body'>, { url }: Pick<Client, 'url'>) =>
  toCliError(errorFrom(status, body), url)

/**
 * Chooses the error to throw. If the server wants a credential and names its
 * mode, the error says how to get a credential.
 */
function toCliError(error: AppError | UnexpectedResponse, url: string): AppError | CliError {
  if ('code' in error && error.name === 'UnexpectedResponse') {
    return new CliError(exitCodeOfResponse(error.code ?? '', error.status), error.message)
  }
  const { code, details } = error as AppError
  const { mode } = (details ?? {}) as { mode?: string }
  if (code === 'unauthenticated' && mode !== undefined) return new CliError(EXIT.notAllowed, credentialHint(url, mode))
  return error as AppError
}

const credentialHint = (url: string, mode: string) =>
  `The server at ${url} requires a credential. ${
    mode === 'local_trusted'
      ? "It was started with --require-token: run the command as its user, with the server's --data-dir."
      : `Sign in at ${url}/account, create a token there, and store it with \`service login ${url}\` or put it into SERVICE_API_KEY.`
  }`
