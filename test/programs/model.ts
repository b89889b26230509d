import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Reply, sendMessage, sendResponse } from './protocols.ts'
import type { Json } from './server.ts'

/** A model request of either program. */
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

/** Serves the model endpoints that the two programs call. Returns the URL. */
export async function serveModel(decide: (call: ModelCall, response: ServerResponse) => Promise<Decision> | Decision) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = parse(Buffer.concat(chunks).toString())
    const isMessages = /^\/v1\/messages(\?|$)/.test(request.url!)
    if (!body || !(isMessages || request.url!.startsWith('/v1/responses'))) return sendOther(request, response)
    const decision = await decide(isMessages ? messagesCall(body) : responsesCall(body), response)
    if ('error' in decision) {
      response.writeHead(decision.status, { 'content-type': 'application/json', ...decision.headers })
      response.end(JSON.stringify(decision.error))
    } else if (isMessages) await sendMessage(response, body, decision)
    else await sendResponse(response, decision)
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
