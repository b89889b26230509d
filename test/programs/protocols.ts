import type { ServerResponse } from 'node:http'
import type { Json } from './server.ts'

/** The tokens of one call of a model, as its provider charges them. */
export interface Usage {
  /** Neither read from a cache nor written to one. */
  input: number
  cached: number
  output: number
  /** Written to a cache with a lifetime of five minutes or one hour. */
  written5m?: number
  written1h?: number
}

/** The response of a model: text, or a tool call. */
export type Block =
  | { text: string }
  | { shell: string }
  /** A tool of the MCP server `service`. */
  | { mcp: { tool: string; input: object } }
  | { subagent: { prompt: string; model?: string } }
  | 'wait'

export interface Reply {
  block: Block
  usage: Usage
  /** Resolves when the rest of the stream, with the final usage, can be sent. */
  rest?: Promise<void>
}

let ids = 0

/** Sends a response of the Messages API, which `claude` and `opencode` call. */
export async function sendMessage(response: ServerResponse, { model, tools, stream }: Json, reply: Reply) {
  const { input, cached, output, written5m = 0, written1h = 0 } = reply.usage
  const id = ++ids
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: written5m + written1h,
    cache_creation: { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h },
    cache_read_input_tokens: cached,
  }
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null }
  const { name, input: toolInput } = toolOf(reply.block, tools ?? [])
  const content = name ? { type: 'tool_use', id: `toolu_${id}`, name, input: {} } : { type: 'text', text: '' }
  const stop_reason = name ? 'tool_use' : 'end_turn'
  if (!stream) {
    const text = { type: 'text', text: 'text' in (reply.block as object) ? (reply.block as { text: string }).text : '' }
    const whole = { ...message, content: [text], stop_reason, usage: { ...usage, output_tokens: output } }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(whole))
    return
  }
  const send = eventStream(response)
  send('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  })
  send('content_block_start', { index: 0, content_block: content })
  const delta = name
    ? { type: 'input_json_delta', partial_json: JSON.stringify(toolInput) }
    : { type: 'text_delta', text: (reply.block as { text: string }).text }
  send('content_block_delta', { index: 0, delta })
  await reply.rest
  send('content_block_stop', { index: 0 })
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: output } })
  send('message_stop', {})
  response.end()
}

function toolOf(block: Block, tools: Json[]): { name?: string; input?: object } {
  if (block === 'wait' || 'text' in block) return {}
  const named = (...names: string[]) => names.find((name) => tools.some((tool) => tool.name === name)) ?? names[0]!
  if ('shell' in block) return { name: named('Bash', 'bash'), input: { command: block.shell, description: 'A step' } }
  if ('mcp' in block) return { name: `mcp__service__${block.mcp.tool}`, input: block.mcp.input }
  const { prompt, model } = block.subagent
  const name = named('Agent', 'Task', 'task')
  if (name === 'task') return { name, input: { description: 'A part', prompt, subagent_type: 'general' } }
  const input = { description: 'A part', prompt, subagent_type: 'general-purpose', run_in_background: false }
  return { name, input: { ...input, ...(model && { model }) } }
}

/** Sends a response of the Gemini API, which `gemini` calls. */
export async function sendContent(response: ServerResponse, { tools }: Json, reply: Reply, url: string) {
  const { input, cached, output } = reply.usage
  const names: string[] = (tools ?? [])
    .flatMap((tool: Json) => tool.functionDeclarations ?? [])
    .map((one: Json) => one.name)
  const part = partOf(reply.block, names)
  const candidate = { content: { role: 'model', parts: [part] }, index: 0 }
  const whole = {
    candidates: [{ ...candidate, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: input + cached,
      cachedContentTokenCount: cached,
      // A part of the output is thoughts, which count separately.
      candidatesTokenCount: output - 5,
      thoughtsTokenCount: 5,
      totalTokenCount: input + cached + output,
    },
  }
  if (!url.includes(':stream')) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(whole))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (reply.rest) {
    response.write(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`)
    await reply.rest
  }
  response.end(`data: ${JSON.stringify(whole)}\n\n`)
}

function partOf(block: Block, names: string[]): object {
  const call = (name: string, args: object) => ({ functionCall: { name, args } })
  if (block === 'wait') return { text: '' }
  // A sub-agent ends with this tool.
  if ('text' in block) return names.includes('complete_task') ? call('complete_task', { result: block.text }) : block
  if ('shell' in block) return call('run_shell_command', { command: block.shell, description: 'A step' })
  if ('mcp' in block) return call(`mcp_service_${block.mcp.tool}`, block.mcp.input)
  return call('invoke_agent', { agent_name: 'generalist', prompt: block.subagent.prompt })
}

/** Sends a response of the Responses API, which `codex` calls. */
export async function sendResponse(response: ServerResponse, reply: Reply) {
  const id = ++ids
  const { input, cached, output } = reply.usage
  const item = { id: `item_${id}`, status: 'completed', ...itemOf(reply.block, `call_${id}`) }
  const usage = {
    input_tokens: input + cached,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + cached + output,
  }
  const whole = { id: `resp_${id}`, object: 'response' }
  const send = eventStream(response)
  send('response.created', { response: { ...whole, status: 'in_progress', output: [] } })
  send('response.output_item.added', { output_index: 0, item })
  await reply.rest
  send('response.output_item.done', { output_index: 0, item })
  send('response.completed', { response: { ...whole, status: 'completed', output: [item], usage } })
  response.end()
}

/** A script calls the tools of `codex`, except the tools for sub-agents. */
function itemOf(block: Block, call_id: string): object {
  const collaborate = (name: string, args: object) => ({
    ...{ type: 'function_call', namespace: 'collaboration', call_id, name },
    arguments: JSON.stringify(args),
  })
  if (block === 'wait') return collaborate('wait_agent', { timeout_ms: 10_000 })
  if ('text' in block) {
    const content = [{ type: 'output_text', text: block.text, annotations: [] }]
    return { type: 'message', role: 'assistant', content }
  }
  if ('subagent' in block) {
    const { prompt, model } = block.subagent
    return collaborate('spawn_agent', {
      task_name: 'child',
      message: prompt,
      fork_turns: 'none',
      ...(model && { model }),
    })
  }
  const call =
    'mcp' in block
      ? `mcp__service__${block.mcp.tool}(${JSON.stringify(block.mcp.input)})`
      : `exec_command({ cmd: ${JSON.stringify(block.shell)} })`
  const input = `text(JSON.stringify(await tools.${call}))`
  return { type: 'custom_tool_call', call_id, name: 'exec', input }
}

/** Starts an event stream. Returns a function that sends numbered events. */
function eventStream(response: ServerResponse): (type: string, data: object) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let sequence_number = 0
  return (type, data) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...data })}\n\n`)
}
