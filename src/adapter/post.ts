/**
 * A separate program. It reads one job as JSON from standard input,
 * `{ url, headers, body, timeoutSec }`, sends the POST request, and prints
 * `HTTP <status>` and the beginning of the response body. It exits with 0 for a
 * 2xx status, otherwise with 1. It does not follow a redirect, which would send
 * the headers, and the secrets in them, to another host.
 */
import { text } from 'node:stream/consumers'

export interface PostJob {
  url: string
  headers: Record<string, string>
  body: unknown
  timeoutSec: number
}

const BODY_LIMIT = 64 * 1024

try {
  await post(JSON.parse(await text(process.stdin)) as PostJob)
} catch (error) {
  process.stderr.write(`${reason(error)}\n`)
  process.exitCode = 1
}

async function post(job: PostJob): Promise<void> {
  const response = await fetch(job.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...job.headers },
    body: JSON.stringify(job.body),
    redirect: 'manual',
    signal: AbortSignal.timeout(job.timeoutSec * 1000),
  })
  process.stdout.write(`HTTP ${response.status}\n`)
  if (!response.ok) process.exitCode = 1
  process.stdout.write(`${await readStart(response.body)}\n`)
}

async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > BODY_LIMIT) return `${text.slice(0, BODY_LIMIT)} [cut]`
  }
  return text
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'The URL did not respond within the time limit (timeoutSec).'
  return error.cause instanceof Error ? `The URL cannot be reached: ${error.cause.message}` : error.message
}
