// The published client: `import { createClient } from '@service-board/service/client'`.
export type * from '../../api.ts'
export { AppError, type ErrorCode } from '../../platform/errors.ts'
export { type Client, createClient, type Fetch, type ListPage } from './client.ts'
export { UnexpectedResponse } from './error.ts'
export type { BodyOf, ItemOf, ListName, OptionsOf, QueryOf, ResponseOf } from './types.ts'
