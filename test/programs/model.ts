import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Reply, sendContent, sendMessage, sendResponse } from './protocols.ts'
import type { Json } from './server.ts'

/** A model request of a program. */
export interface ModelCall {
  model: string
  /** The whole conversation, as JSON. */
  conversation: string
  /** Whether the last message is the result of a tool. */
  afterTool: boolean
  hasTools: boolean
}

/** A response of the model, or an error. */
export type Decision = Reply | { status: number; headers?: Record<string, string>; error: object }

/** Serves the model endpoints that the programs call. Returns the URL. */
export async function serveModel(decide: (call: ModelCall, response: ServerResponse) => Promise<Decision> | Decision) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = parse(Buffer.concat(chunks).toString())
    const protocol = body && PROTOCOLS.find(({ path }) => path.test(request.url!))
    if (!protocol) return sendOther(request, response)
    const decision = await decide(protocol.parse(body, request.url!), response)
    if ('error' in decision) {
      response.writeHead(decision.status, { 'content-type': 'application/json', ...decision.headers })
      response.end(JSON.stringify(protocol.toError?.(decision) ?? decision.error))
    } else await protocol.send(response, body, decision, request.url!)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function messagesCall({ model, messages, tools }: Json): ModelCall {
  const last = messages.at(-1)?.content
  const afterTool = Array.isArray(last) && last.some((block: Json) => block.type === 'tool_result')
  return { model, conversation: JSON.stringify(messages), afterTool, hasTools: (tools?.length ?? 0) > 0 }
}

const responsesCall = ({ model, input }: Json): ModelCall => ({
  model,
  conversation: JSON.stringify(input),
  afterTool: input.at(-1)?.type?.endsWith('_output') === true,
  hasTools: true,
})

function contentCall({ contents, tools }: Json, url: string): ModelCall {
  const afterTool = contents?.at(-1)?.parts?.some((part: Json) => part.functionResponse) === true
  const model = /\/models\/([^:/]+)/.exec(url)![1]!
  return { model, conversation: JSON.stringify(contents), afterTool, hasTools: (tools?.length ?? 0) > 0 }
}

interface Protocol {
  path: RegExp
  parse(body: Json, url: string): ModelCall
  send(response: ServerResponse, body: Json, reply: Reply, url: string): Promise<void>
  toError?(refusal: { status: number; error: object }): object
}

const PROTOCOLS: Protocol[] = [
  { path: /^\/v1\/messages(\?|$)/, parse: messagesCall, send: sendMessage },
  { path: /^\/v1\/responses/, parse: responsesCall, send: (response, _, reply) => sendResponse(response, reply) },
  {
    path: /^\/v1beta\/models\/[^:]+:(?:stream)?[gG]enerateContent/,
    parse: contentCall,
    send: sendContent,
    toError: ({ status, error }) => ({
      error: { code: status, message: (error as Json).error?.message ?? '', status },
    }),
  },
]

function sendOther(request: IncomingMessage, response: ServerResponse): void {
  const isList = request.url!.includes('/models')
  response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' })
  response.end(isList ? '{"data":[],"models":[]}' : '{"error":{"message":"Not found."}}')
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
