/** One row of a run's output, as the page and `service run follow` display it. */
export type RunEvent = { id: number; isNested?: boolean } & (
  | { kind: 'text' | 'thinking' | 'notice' | 'error' | 'output'; text: string }
  | ToolEvent
  | { kind: 'end'; isOk: boolean; text: string }
)

export interface ToolEvent {
  kind: 'tool'
  /** The program's name of the tool, such as `Bash`. */
  name: string
  /** The main argument of the call: a command, a file, a pattern. */
  title: string
  input: unknown
  output: string | undefined
  /** The changes of files that the call requests. */
  edits: readonly Edit[]
  exitCode: number | undefined
  hasFailed: boolean
  isDone: boolean
  tookMs: number | undefined
  startedAt: number | undefined
}

export interface Edit {
  path: string
  before: string
  after: string
  /** A patch instead of the texts. */
  patch?: string
}

type Json = Record<string, unknown>

const asObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
const asList = (value: unknown): Json[] => (Array.isArray(value) ? value.map(asObject) : [])
const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches escape sequences.
const ANSI = /\u001b\[[0-9;?]*[A-Za-z]/g

/** The size, in characters, up to which lines of plain output are joined into one row. */
const OUTPUT_CHARS = 4_000

export interface EventReader {
  events: readonly RunEvent[]
  /** The working directory that the program reports. */
  cwd(): string | undefined
  model(): string | undefined
  /**
   * Reads a part of the output.
   *
   * @param isLive whether the text was just written; the durations of calls are then measured by its arrival
   */
  push(text: string, isLive: boolean): void
}

/** Creates a reader of the output of Claude Code, Codex or any other program. The text may be divided anywhere; the reader waits for complete lines. */
export function createEventReader(): EventReader {
  const events: RunEvent[] = []
  const calls = new Map<string, Extract<RunEvent, { kind: 'tool' }>>()
  let rest = ''
  let cwd: string | undefined
  let model: string | undefined
  let lastText = ''
  let isLive = false

  const add = (event: Record<string, unknown> & { kind: RunEvent['kind'] }, line: Json = {}) => {
    const row = {
      id: events.length,
      ...event,
      ...(line.parent_tool_use_id ? { isNested: true } : {}),
    } as unknown as RunEvent
    events.push(row)
    return row
  }
  const say = (text: string, line?: Json) => {
    if (text.trim() === '') return
    lastText = text
    add({ kind: 'text', text }, line)
  }
  const call = (id: string, name: string, title: string, input: unknown, edits: readonly Edit[], line?: Json) => {
    const startedAt = Date.parse(asText(line?.timestamp)) || (isLive ? Date.now() : undefined)
    const row = add(
      {
        kind: 'tool',
        name,
        title,
        input,
        edits,
        output: undefined,
        exitCode: undefined,
        hasFailed: false,
        isDone: false,
        tookMs: undefined,
        startedAt,
      },
      line,
    ) as Extract<RunEvent, { kind: 'tool' }>
    if (id) calls.set(id, row)
    return row
  }
  const finish = (
    id: string,
    { output, exitCode, hasFailed, tookMs }: Partial<Pick<ToolEvent, 'output' | 'exitCode' | 'hasFailed' | 'tookMs'>>,
    line: Json,
  ) => {
    const row = calls.get(id)
    if (!row) return
    calls.delete(id)
    const endedAt = Date.parse(asText(line.timestamp)) || (isLive ? Date.now() : undefined)
    Object.assign(row, {
      output,
      exitCode,
      hasFailed: hasFailed ?? false,
      isDone: true,
      tookMs: tookMs ?? (endedAt && row.startedAt ? endedAt - row.startedAt : undefined),
    })
  }

  const plain = (raw: string) => {
    const text = raw.replace(ANSI, '')
    const before = events.at(-1)
    if (before?.kind === 'output' && before.text.length + text.length < OUTPUT_CHARS) before.text += `\n${text}`
    else if (text.trim() !== '') add({ kind: 'output', text })
  }

  const readLine = (text: string) => {
    if (!text.startsWith('{')) return plain(text)
    let line: Json
    try {
      line = asObject(JSON.parse(text))
    } catch {
      return plain(text)
    }
    const type = asText(line.type)
    if (type.startsWith('item.')) return readItem(type, asObject(line.item), line)
    switch (type) {
      case 'system':
        return readSystem(line)
      case 'assistant':
        return readAssistant(line)
      case 'user':
        return readResults(line)
      case 'rate_limit_event':
        if (asObject(line.rate_limit_info).status === 'rejected')
          add({ kind: 'error', text: 'The provider refuses requests until the usage limit resets.' })
        return
      case 'result': {
        const errors = asTexts(line.errors).join('\n')
        const isOk = line.is_error !== true && !asText(line.subtype).startsWith('error')
        const message = asText(line.result) || errors
        add({ kind: 'end', isOk, text: isOk && message === lastText ? '' : message || asText(line.subtype) })
        return
      }
      case 'thread.started':
      case 'turn.started':
      case 'stream_event':
        return
      case 'turn.completed':
        add({ kind: 'end', isOk: true, text: '' })
        return
      case 'turn.failed':
        add({ kind: 'end', isOk: false, text: asText(asObject(line.error).message) })
        return
      case 'error':
        add({ kind: 'notice', text: asText(line.message) })
        return
      default:
        return plain(text)
    }
  }

  const readSystem = (line: Json) => {
    if (line.subtype === 'init') {
      cwd = asText(line.cwd) || undefined
      model = asText(line.model) || undefined
      add({ kind: 'notice', text: ['Session started', model, cwd].filter(Boolean).join(' · ') })
    } else if (line.subtype === 'api_retry') {
      const status = line.error_status ? ` (${line.error_status})` : ''
      add({
        kind: 'notice',
        text: `The model's API failed${status}: try ${line.attempt} of ${line.max_retries} follows.`,
      })
    } else if (line.subtype === 'compact_boundary') add({ kind: 'notice', text: 'The conversation was compacted.' })
  }

  const readAssistant = (line: Json) => {
    for (const block of asList(asObject(line.message).content)) {
      if (block.type === 'text') say(asText(block.text), line)
      else if (block.type === 'thinking' && asText(block.thinking).trim())
        add({ kind: 'thinking', text: asText(block.thinking) }, line)
      else if (block.type === 'tool_use') {
        const input = asObject(block.input)
        const name = asText(block.name)
        call(asText(block.id), shortName(name), titleOf(input, cwd), input, editsOf(name, input, cwd), line)
      }
    }
  }

  const readResults = (line: Json) => {
    const { content } = asObject(line.message)
    for (const block of asList(content)) {
      if (block.type !== 'tool_result') continue
      const output = textOf(block.content)
      const exit = /^(?:Error: )?Exit code (\d+)\n?/.exec(output)
      const more = asObject(line.tool_use_result)
      finish(
        asText(block.tool_use_id),
        {
          output: exit ? output.slice(exit[0].length) : output,
          hasFailed: block.is_error === true,
          ...(exit && { exitCode: Number(exit[1]) }),
          ...(typeof more.durationMs === 'number' && { tookMs: more.durationMs }),
        },
        line,
      )
    }
  }

  /** Reads an item of Codex, which appears when it starts and again, complete, when it is done. */
  const readItem = (type: string, item: Json, line: Json) => {
    const id = asText(item.id)
    const isDone = type === 'item.completed'
    switch (item.type) {
      case 'agent_message':
        if (isDone) say(asText(item.text))
        return
      case 'reasoning':
        if (isDone) add({ kind: 'thinking', text: asText(item.text) })
        return
      case 'error':
        if (isDone) add({ kind: 'notice', text: asText(item.message) })
        return
      case 'command_execution': {
        if (!calls.has(id)) call(id, 'Shell', bareCommand(asText(item.command)), { command: item.command }, [], line)
        const exitCode = asNumber(item.exit_code)
        if (isDone)
          finish(
            id,
            {
              output: textOf(item.aggregated_output),
              hasFailed: item.status === 'failed' || (exitCode ?? 0) !== 0,
              ...(exitCode !== undefined && { exitCode }),
            },
            line,
          )
        return
      }
      case 'file_change': {
        if (!isDone) return
        const changes = asList(item.changes)
        const edits = changes.map((change) => ({
          path: relative(asText(change.path), cwd),
          before: '',
          after: '',
          patch: asText(change.diff) || asText(change.unified_diff),
        }))
        const title = changes.map((change) => `${asText(change.kind)} ${relative(asText(change.path), cwd)}`).join(', ')
        const known = edits.filter(({ patch }) => patch !== '')
        call(id, 'Edit', title, { changes }, known, line)
        finish(id, { hasFailed: item.status === 'failed' }, line)
        return
      }
      case 'mcp_tool_call': {
        if (!calls.has(id))
          call(
            id,
            asText(item.tool),
            titleOf(asObject(item.arguments), cwd) || asText(item.server),
            item.arguments,
            [],
            line,
          )
        if (isDone)
          finish(
            id,
            {
              output: item.error ? asText(asObject(item.error).message) : textOf(asObject(item.result).content),
              hasFailed: item.status === 'failed',
            },
            line,
          )
        return
      }
      case 'web_search':
        if (isDone) {
          call(id, 'Search', asText(item.query), { query: item.query }, [], line)
          finish(id, {}, line)
        }
        return
      case 'todo_list':
        if (isDone || type === 'item.updated')
          add({
            kind: 'thinking',
            text: asList(item.items)
              .map(({ text, completed }) => `${completed ? '☑' : '☐'} ${asText(text)}`)
              .join('\n'),
          })
        return
      default:
        return
    }
  }

  return {
    events,
    cwd: () => cwd,
    model: () => model,
    push(text, live) {
      isLive = live
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) readLine(line)
    },
  }
}

const asTexts = (value: unknown) =>
  Array.isArray(value) ? value.map((one) => asText(one) || asText(asObject(one).message)) : []

/** Returns the text of a result, which is a string or a list of blocks. */
const textOf = (content: unknown): string =>
  (typeof content === 'string'
    ? content
    : asList(content)
        .map((block) => asText(block.text) || (block.type === 'image' ? '[image]' : ''))
        .join('\n')
  ).replace(ANSI, '')

/** Converts `mcp__tides__read` to `tides read`. */
const shortName = (name: string) => name.replace(/^mcp__/, '').replaceAll('__', ' ')

/** Removes the shell with which Codex starts each command. */
const bareCommand = (command: string) => /^\S*(?:ba|z)?sh -l?c '?([\s\S]*?)'?$/.exec(command)?.[1] ?? command

const relative = (path: string, cwd: string | undefined) =>
  cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path

const TITLE_KEYS = ['command', 'file_path', 'notebook_path', 'pattern', 'path', 'url', 'query', 'description', 'prompt']

function titleOf(input: Json, cwd: string | undefined): string {
  const key = TITLE_KEYS.find((one) => asText(input[one]) !== '')
  const text = key ? asText(input[key]) : (Object.values(input).map(asText).find(Boolean) ?? '')
  return relative(text, cwd).split('\n')[0]!.slice(0, 300)
}

function editsOf(name: string, input: Json, cwd: string | undefined): Edit[] {
  const path = relative(asText(input.file_path), cwd)
  if (name === 'Write') return [{ path, before: '', after: asText(input.content) }]
  const all = name === 'Edit' ? [input] : name === 'MultiEdit' ? asList(input.edits) : []
  return all.map((edit) => ({ path, before: asText(edit.old_string), after: asText(edit.new_string) }))
}
