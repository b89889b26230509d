import type { Agent } from '../state/types.ts'

type Ring = 'live' | 'paused' | 'error' | 'waiting' | undefined

const RINGS: Partial<Record<Agent['status'], Ring>> = {
  running: 'live',
  paused: 'paused',
  error: 'error',
  pending_approval: 'waiting',
}

const initialsOf = (name: string) => {
  const [first = '?', second] = name.trim().split(/[\s-]+/)
  return (second ? first.charAt(0) + second.charAt(0) : first.slice(0, 2)).toUpperCase()
}

/** Returns the hue of a name. The same name always has the same hue. */
const hueOf = (name: string) => [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 360, 7)

/**
 * The initials of an agent or a person. An agent is a rounded square with a ring for its
 * status; a person is a circle.
 */
export function Avatar({
  name,
  status,
  isPerson,
  size = 18,
}: {
  name: string
  status?: Agent['status']
  isPerson?: boolean
  size?: number
}) {
  const ring = status && RINGS[status]
  return (
    <span
      class={`avatar${isPerson ? ' person' : ''}${ring ? ` ring-${ring}` : ''}`}
      style={{ '--hue': hueOf(name), '--size': `${size}px` }}
      aria-hidden="true"
    >
      {initialsOf(name)}
    </span>
  )
}

/** An agent's avatar and name. */
export function AgentName({ agent, size }: { agent: Pick<Agent, 'name' | 'status'>; size?: number }) {
  return (
    <span class="who">
      <Avatar name={agent.name} status={agent.status} size={size ?? 18} />
      <span class="clip">{agent.name}</span>
    </span>
  )
}
