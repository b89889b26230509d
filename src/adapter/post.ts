/**
 * A program of its own: POSTs one JSON job from standard input,
 * `{ url, headers, body, timeoutSec }`, and prints `HTTP <status>` and the
 * start of the answer. Exits 0 on a 2xx, else 1. A redirect is no answer: it
 * would carry the headers, and the secrets in them, to another place.
 */
import { text } from 'node:stream/consumers'

export interface PostJob {
  url: string
  headers: Record<string, string>
  body: unknown
  timeoutSec: number
}

const ANSWER_LIMIT = 64 * 1024

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
  process.stdout.write(`${await start(response.body)}\n`)
}

async function start(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder()
  let answer = ''
  for await (const chunk of body ?? []) {
    answer += decoder.decode(chunk, { stream: true })
    if (answer.length > ANSWER_LIMIT) return `${answer.slice(0, ANSWER_LIMIT)} [cut]`
  }
  return answer
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'The URL did not answer in time.'
  return error.cause instanceof Error ? `The URL cannot be reached: ${error.cause.message}` : error.message
}
