import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A model that knows one heartbeat: it lets the program work on its issue by curl, and then says that it is done. */
export interface StandInModel {
  url: string
  /** How many requests wait for `release`. */
  held(): number
  /** Lets requests wait from here on. */
  hold(): void
  release(): void
  close(): void
}

/** What the model has the program do, with the variables that a run has. */
const WORK = [
  'set -e',
  `api() { curl -sSf -H "Authorization: Bearer $SERVICE_API_KEY" -H 'Content-Type: application/json' "$@" > /dev/null; }`,
  'api "$SERVICE_API_URL/api/agents/me"',
  `api -X POST "$SERVICE_API_URL/api/issues/$SERVICE_TASK_ID/checkout" -d '{"expectedStatuses":["todo","in_progress"]}'`,
  `api -X PATCH "$SERVICE_API_URL/api/issues/$SERVICE_TASK_ID" -d '{"status":"done","comment":"Done by the program."}'`,
].join('\n')

// biome-ignore lint/suspicious/noExplicitAny: the requests of two vendors, looked into freely.
type Json = any

/** Answers as the model endpoints of both programs do, as far as these ask: streams of server-sent events. */
export async function startModel(): Promise<StandInModel> {
  let gate = Promise.resolve()
  let open = () => {}
  let held = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = parse(Buffer.concat(chunks).toString())
    held++
    await gate
    held--
    if (request.url!.startsWith('/v1/messages') && body?.stream) answerMessages(response, body)
    else if (request.url!.startsWith('/v1/responses')) answerResponses(response, body)
    else answerOther(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: () => held,
    hold() {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    release: () => open(),
    close() {
      open()
      server.closeAllConnections()
      server.close()
    },
  }
}

function answerOther(request: IncomingMessage, response: ServerResponse): void {
  const isList = request.url!.includes('/models')
  response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' })
  response.end(isList ? '{"data":[],"models":[]}' : '{"error":{"message":"There is no such thing here."}}')
}

/** The Messages API, as `claude` asks it. */
function answerMessages(response: ServerResponse, { model, messages, tools }: Json): void {
  const send = stream(response)
  const last = messages.at(-1)?.content
  const hasWorked = Array.isArray(last) && last.some((block: Json) => block.type === 'tool_result')
  const works = !hasWorked && tools?.some((tool: Json) => tool.name === 'Bash')
  const id = `${Date.now()}`
  const usage = { input_tokens: 1_200, cache_creation_input_tokens: 0, cache_read_input_tokens: 300, output_tokens: 1 }
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage }
  const block = works ? { type: 'tool_use', id: `toolu_${id}`, name: 'Bash', input: {} } : { type: 'text', text: '' }
  const delta = works
    ? { type: 'input_json_delta', partial_json: JSON.stringify({ command: WORK, description: 'The heartbeat' }) }
    : { type: 'text_delta', text: 'It is done.' }
  send('message_start', { message })
  send('content_block_start', { index: 0, content_block: block })
  send('content_block_delta', { index: 0, delta })
  send('content_block_stop', { index: 0 })
  send('message_delta', {
    delta: { stop_reason: works ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { output_tokens: 40 },
  })
  send('message_stop', {})
  response.end()
}

/** The Responses API, as `codex` asks it: its tools are called from a script. */
function answerResponses(response: ServerResponse, { input }: Json): void {
  const send = stream(response)
  const id = `${Date.now()}`
  const hasWorked = input.at(-1)?.type === 'custom_tool_call_output'
  const script = `text(JSON.stringify(await tools.exec_command({ cmd: ${JSON.stringify(WORK)} })))`
  const item = hasWorked
    ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is done.', annotations: [] }] }
    : { type: 'custom_tool_call', call_id: `call_${id}`, name: 'exec', input: script }
  const output = [{ id: `item_${id}`, status: 'completed', ...item }]
  const usage = {
    input_tokens: 1_500,
    input_tokens_details: { cached_tokens: 300 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1_540,
  }
  const whole = { id: `resp_${id}`, object: 'response' }
  send('response.created', { response: { ...whole, status: 'in_progress', output: [] } })
  send('response.output_item.added', { output_index: 0, item: output[0] })
  send('response.output_item.done', { output_index: 0, item: output[0] })
  send('response.completed', { response: { ...whole, status: 'completed', output, usage } })
  response.end()
}

/** Begins an event stream and gives what sends its events, numbered. */
function stream(response: ServerResponse): (type: string, data: object) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let sequence_number = 0
  return (type, data) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...data })}\n\n`)
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
