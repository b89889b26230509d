import { type Received, request } from './api.ts'
import { useQuery } from './query.ts'

export type Placement = Received<'GET /api/placements'>[number]

/** The key of the query. */
export const PLACEMENTS = 'placements'

/** The name that stands for the machine of the server. */
const LOCAL = 'local'

/** Loads the places where runs execute besides the machine of the server. */
export const usePlacements = () =>
  useQuery(
    PLACEMENTS,
    () => request('GET /api/placements'),
    ({ type }) => type.startsWith('placement.') || type === 'run.started' || type === 'run.finished',
  )

/** Returns the choices for an agent or a project. `''` stands for the default. */
export const placementChoices = (placements: readonly Placement[], inherited: string) => [
  { value: '', label: inherited },
  { value: LOCAL, label: 'The machine of the server' },
  ...placements.map(({ name }) => ({ value: name, label: name })),
]
