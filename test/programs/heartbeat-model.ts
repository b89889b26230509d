import { type ModelCall, serveModel } from './model.ts'
import type { Reply } from './protocols.ts'

/** A model for one heartbeat: the program works on its issue with curl, and then reports it as done. */
export interface HeartbeatModel {
  url: string
  /** The number of requests that wait for `release`. */
  held(): number
  /** Holds all later requests. */
  hold(): void
  release(): void
  close(): void
}

/** The commands that the program runs, with the variables of a run. */
const WORK = [
  'set -e',
  `api() { curl -sSf -H "Authorization: Bearer $SERVICE_API_KEY" -H 'Content-Type: application/json' "$@" > /dev/null; }`,
  'api "$SERVICE_API_URL/api/agents/me"',
  `api -X POST "$SERVICE_API_URL/api/issues/$SERVICE_TASK_ID/checkout" -d '{"expectedStatuses":["todo","in_progress"]}'`,
  `api -X PATCH "$SERVICE_API_URL/api/issues/$SERVICE_TASK_ID" -d '{"status":"done","comment":"Done by the program."}'`,
].join('\n')

export async function startHeartbeatModel(): Promise<HeartbeatModel> {
  let gate = Promise.resolve()
  let open = () => {}
  let held = 0
  const { url, close } = await serveModel(async (call) => {
    held++
    await gate
    held--
    return replyTo(call)
  })
  return {
    url,
    held: () => held,
    hold() {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    release: () => open(),
    close() {
      open()
      close()
    },
  }
}

const replyTo = ({ afterTool, hasTools }: ModelCall): Reply => ({
  block: !afterTool && hasTools ? { shell: WORK } : { text: 'It is done.' },
  usage: { input: 1_200, cached: 300, output: 40 },
})
