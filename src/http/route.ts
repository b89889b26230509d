import type { GenericSchema, InferInput, InferOutput, StrictObjectSchema } from 'valibot'
import type { BodyJob } from './body-job.ts'
import type { RateLimit } from './rate-limit.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `'/api/issues/:issueId'` has the parameters `{ issueId: string }`. */
type Params<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? Params<Head> & Params<Tail>
  : Path extends `:${infer Name}.txt`
    ? { [K in Name]: string }
    : Path extends `:${infer Name}`
      ? { [K in Name]: string }
      : unknown

type Output<Schema> = Schema extends GenericSchema ? InferOutput<Schema> : undefined

/** The body of a response: JSON that matches a schema, another media type, or no body. */
export type ResponseSchema = GenericSchema | MediaType | null
export type MediaType = `${string}/${string}`

/** A body is a strict object, so that a misspelt field is refused instead of ignored. */
// biome-ignore lint/suspicious/noExplicitAny: any entries, as valibot's own generic schemas have them.
type BodySchema = StrictObjectSchema<any, undefined> | GenericSchema

/** The validated parts of a request, as a use case receives them. */
export interface Input<Caller = unknown, P = unknown, Q = unknown, B = unknown> {
  caller: Caller
  params: P
  query: Q
  body: B
  /** Returns a header of the request, such as `Accept`, for the few routes that do not return JSON. */
  header(name: string): string | undefined
  /** The address of the client, if it is known. */
  address: string
  /** Closes the connection at once, for a stream whose client is too slow. */
  drop(): void
  /** Authenticates and authorizes the request again, for a stream that lasts longer than the first check. */
  isStillAuthorized(): Promise<boolean>
}

/** A type of caller, as the documentation and errors name it. */
export interface Audience {
  name: string
  /** The accepted credentials. `nothing` is sufficient on a local server without a token. */
  by: readonly ('nothing' | 'bearer' | 'session')[]
}

interface Definition<Id extends string, M extends Method, Path extends string, Q, B, R, Ctx, Caller, Who, Role> {
  /** `<noun>s.<verb>`, such as `issues.checkout`: the operation id of the OpenAPI document. */
  id: Id
  method: M
  path: Path
  /** One sentence without a full stop. */
  summary: string
  description?: string
  /** The types of callers that may call the endpoint; at least one. */
  who: readonly [Who, ...Who[]]
  /** The least role of a person in the company. Default: `viewer` for GET, otherwise `admin`. */
  role?: Role
  /** Whether an archived company allows the request. By default it allows only GET. */
  allowsArchived?: boolean
  /** Whether the token of a run in a placement stays valid here after the run has ended. Everywhere else it is refused. */
  acceptsEndedRun?: boolean
  query?: Q
  body?: B
  /** Whether a request without a body counts as `{}`. */
  bodyOptional?: boolean
  /** Whether the body is a multipart form with a file. `body` is then `Upload`. */
  upload?: boolean
  /** Whether the body is an HTML form (`application/x-www-form-urlencoded`). */
  form?: boolean
  /** The maximum size of the body in bytes, if it differs from the server's limit. */
  bodyLimit?: number
  /** The maximum number of fields in the body, over all its objects, if it differs from the usual limit. */
  bodyFields?: number
  /** Whether a request with `Accept: text/event-stream` receives a stream of events instead of JSON. */
  streams?: boolean
  /**
   * Whether the response depends only on the URL, the caller, the database and
   * the current second. The server then caches it until the next change.
   */
  isCached?: boolean
  /** Parses and validates the body in a thread, where it may be much larger than usual. */
  bodyJob?: BodyJob
  /** Whether a GET uses its link up. HEAD, with which programs check links, is then refused. */
  usesLinkUp?: boolean
  /**
   * Whether the response contains a secret that is shown once. Such a response
   * is not stored for an `Idempotency-Key`.
   */
  secret?: boolean
  /** The rate limits that apply to the endpoint. It may respond with 429. */
  limits?: readonly RateLimit[]
  /** The responses by status. The first 2xx is the status of a plain return value. */
  responses: R
  run(ctx: Ctx, input: Input<Caller, Params<Path>, Output<Q>, Output<B>>): unknown
}

type AnyDefinition = Definition<
  string,
  Method,
  string,
  GenericSchema,
  GenericSchema,
  Record<number, ResponseSchema>,
  never,
  never,
  Audience,
  string
>

/** An endpoint as data. The app, the OpenAPI document, the guides and the tests are made from it. */
export interface Endpoint extends Omit<AnyDefinition, 'run'> {
  run(ctx: never, input: never): unknown
}

/** The types of the requests and responses of an endpoint. Exists at compile time only. */
export interface Wire<P = unknown, Q = unknown, B = unknown, R = unknown> {
  params: P
  query: Q
  body: B
  response: R
}

/** An endpoint with its exact types, from which the client of the endpoint table is typed. */
export type TypedEndpoint<Id extends string, M extends Method, Path extends string, W extends Wire> = Endpoint & {
  id: Id
  method: M
  path: Path
  '~wire'?: W
}

type Sent<Schema> = Schema extends GenericSchema ? InferInput<Schema> : undefined

type SuccessStatus = 200 | 201 | 202
/** The body of the first 2xx response: JSON, text, or no body. */
type Received<R> = {
  [Status in keyof R]: Status extends SuccessStatus
    ? R[Status] extends GenericSchema
      ? InferOutput<R[Status]>
      : R[Status] extends string
        ? string
        : undefined
    : never
}[keyof R]

/** Creates the function that describes an endpoint. The path and the schemas type its parameters, query and body. */
export const routeFor =
  <Ctx, Caller, Who extends Audience, Role extends string>() =>
  <
    const Id extends string,
    const M extends Method,
    const Path extends string,
    const R extends Record<number, ResponseSchema>,
    Q extends GenericSchema | undefined = undefined,
    B extends BodySchema | undefined = undefined,
  >(
    definition: Definition<Id, M, Path, Q, B, R, Ctx, Caller, Who, Role>,
  ): TypedEndpoint<Id, M, Path, Wire<Params<Path>, Sent<Q>, Sent<B>, Received<R>>> =>
    definition as never

/** Returns the same endpoint under another id and path. The path must have the same parameters. */
export const alias = <const Id extends string, M extends Method, const Path extends string, W extends Wire>(
  endpoint: TypedEndpoint<string, M, string, W>,
  { id, path }: { id: Id; path: Path },
): TypedEndpoint<Id, M, Path, W> => ({ ...endpoint, id, path })

/** A body that is JSON text already: a thread wrote it, because writing megabytes would block the main thread. */
export class JsonText {
  readonly text: string | Uint8Array

  constructor(text: string | Uint8Array) {
    this.text = text
  }

  toString() {
    return typeof this.text === 'string' ? this.text : Buffer.from(this.text).toString()
  }

  toJSON(): unknown {
    return JSON.parse(this.toString())
  }
}

/** A response that differs from the route's usual one: another status, headers, or a body that is not JSON. */
export class Reply {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>

  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

export const reply = (status: number, body: unknown, headers?: Record<string, string>) =>
  new Reply(status, body, headers)
