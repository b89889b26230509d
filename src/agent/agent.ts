import type { Selectable } from 'kysely'
import type { AgentTable } from '../database/tables.ts'

export type AgentRow = Selectable<AgentTable>
