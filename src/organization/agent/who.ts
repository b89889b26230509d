import type { Who } from '../../access/caller/who.ts'
import { hasSubordinates } from './credentials.ts'

/** An agent with live subordinates. */
export const manager: Who = {
  name: 'manager agents',
  by: ['bearer'],
  allows: (ctx, caller) => caller.type === 'agent' && hasSubordinates(ctx.db, { agentId: caller.agentId }),
}
