import * as v from 'valibot'
import { AppError } from '../../platform/errors.ts'
import type { Client } from '../client/client.ts'
import { callTool, INSTRUCTIONS, listTools, serverInfo } from './call-tool.ts'

/**
 * The versions of MCP, the latest first. A test compares them with those of the
 * SDK. The server does not load the SDK, because that takes 250 ms of the main
 * thread; without sessions and streams, the protocol is the few methods below.
 */
export const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']

/** The maximum number of messages in a batch. Their calls run in one turn of the event loop, and other requests wait for all. */
const MAX_BATCH = 10

const Message = v.looseObject({
  jsonrpc: v.literal('2.0'),
  id: v.optional(v.union([v.string(), v.number()])),
  method: v.optional(v.string()),
  params: v.optional(v.record(v.string(), v.unknown())),
})
type Message = v.InferOutput<typeof Message>

/**
 * Returns the JSON-RPC responses to the messages of one request: a list for a
 * batch, or undefined if no message expects a response.
 *
 * @throws AppError 400 for a body that is no message of MCP
 */
export async function respond(client: Client, body: unknown): Promise<unknown> {
  if (!Array.isArray(body)) return respondTo(client, parse(body))
  if (body.length === 0 || body.length > MAX_BATCH) {
    throw invalidMessage(`Send 1 to ${MAX_BATCH} messages in one request.`)
  }
  const responses = await Promise.all(body.map(parse).map((message) => respondTo(client, message)))
  const expected = responses.filter((response) => response !== undefined)
  return expected.length > 0 ? expected : undefined
}

const invalidMessage = (message: string) => new AppError('validation_failed', message)

function parse(message: unknown): Message {
  const { success, output } = v.safeParse(Message, message)
  if (success) return output
  throw invalidMessage('Send a message of JSON-RPC 2.0: {"jsonrpc":"2.0","id":1,"method":"tools/list"}.')
}

/** Responds to one message. Notifications, which have no id, and responses expect none. */
async function respondTo(client: Client, { id, method, params = {} }: Message): Promise<object | undefined> {
  if (id === undefined || method === undefined) return undefined
  const response = (result: object) => ({ jsonrpc: '2.0', id, result })
  const error = (code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })
  switch (method) {
    case 'initialize':
      return response({
        protocolVersion: VERSIONS.find((version) => version === params.protocolVersion) ?? VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: serverInfo(),
        instructions: INSTRUCTIONS,
      })
    case 'ping':
      return response({})
    case 'tools/list':
      return response({ tools: listTools() })
    case 'tools/call':
      return typeof params.name === 'string'
        ? response(await callTool(client, params.name, params.arguments ?? {}))
        : error(-32602, 'params.name must be the name of a tool.')
    default:
      return error(-32601, 'Method not found')
  }
}
