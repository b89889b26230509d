import { AppError } from '../../platform/errors.ts'
import type { ResponseOf } from '../client/types.ts'
import type { Client } from './client.ts'

/** What a server says about itself, and why it cannot write its database, if it cannot. */
export type Health = Omit<ResponseOf<'GET /api/health'>, 'status'> & {
  status: 'ok' | 'failing'
  problem: string | null
}

/** Requests the health of a server. A server that cannot write its database responds with an error that names it. */
export async function readHealth(client: Pick<Client, 'request'>, signal?: AbortSignal): Promise<Health> {
  try {
    return { ...(await client.request('GET /api/health', signal ? { signal } : {})), problem: null }
  } catch (error) {
    const details = (error instanceof AppError ? error.details : null) as Partial<Health> | null
    if (!details?.instance) throw error
    const { version = '', mode = '', instance } = details
    return { status: 'failing', version, mode, instance, problem: (error as AppError).message }
  }
}
