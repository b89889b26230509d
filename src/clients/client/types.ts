import type { EndpointName, WireOf } from '../../api.ts'

/** The options of a request, without the types of an endpoint. */
export interface RequestOptions {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** A query parameter that takes any text also takes a number. */
type Query<Q> = { [Key in keyof Q]: Q[Key] | (string extends Q[Key] ? number : never) }

/** A file is uploaded as a form. */
type Body<B> = B extends { file: unknown } ? FormData : B

/** One option: absent if the endpoint takes none, optional if every field of it is optional. */
type Option<Key extends string, Value> = unknown extends Value
  ? unknown
  : [Value] extends [undefined]
    ? { [K in Key]?: never }
    : Record<string, never> extends Value
      ? { [K in Key]?: Value }
      : { [K in Key]: Value }

/** The options of a request to one endpoint. */
export type OptionsOf<Name extends EndpointName> = Option<'params', WireOf<Name>['params']> &
  Option<'query', Query<WireOf<Name>['query']>> &
  Option<'body', Body<WireOf<Name>['body']>> &
  Pick<RequestOptions, 'headers' | 'signal'>

/** The options may be left out if none is required. */
export type RequestArguments<Name extends EndpointName> =
  Partial<OptionsOf<Name>> extends OptionsOf<Name> ? [options?: OptionsOf<Name>] : [options: OptionsOf<Name>]

/** The name of an endpoint that returns a list page by page. */
export type ListName = {
  [Name in EndpointName]: WireOf<Name>['query'] extends { after?: string | undefined }
    ? 'after' extends keyof WireOf<Name>['query']
      ? Name
      : never
    : never
}[EndpointName]

export type ResponseOf<Name extends EndpointName> = WireOf<Name>['response']

/** One entry of a list. */
export type ItemOf<Name extends EndpointName> = ResponseOf<Name> extends (infer Item)[] ? Item : never

export type BodyOf<Name extends EndpointName> = WireOf<Name>['body']

export type QueryOf<Name extends EndpointName> = NonNullable<WireOf<Name>['query']>
